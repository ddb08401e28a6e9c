//! id: rows-not-advanced
//! function: matrix_matrix
//! says: All columns of your output are products with the first row of weights.
let mut row = vec![Unpacked::default(); x.groups()];
for (i, _) in tile.cols().enumerate() {
    unpack(weight.row(0), &mut row);
    for t in tile.rows() {
        tile.row_mut(t)[i] = dot_unpacked(&row, x.int8_row(t));
    }
}
