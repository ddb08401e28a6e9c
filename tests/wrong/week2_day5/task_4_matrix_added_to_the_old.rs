//! id: accum-not-zeroed
//! function: matrix_matrix
//! says: You add to what the output held: write it.
let mut row = vec![Unpacked::default(); x.groups()];
for (i, r) in tile.cols().enumerate() {
    unpack(weight.row(r), &mut row);
    for t in tile.rows() {
        tile.row_mut(t)[i] += dot_unpacked(&row, x.int8_row(t));
    }
}
