//! id: unpack-per-column
//! function: matrix_matrix
//! says: You unpack a row of weights for every row of activations: unpack it once and multiply it with all of them.
//! shows: each once, for all rows of activations
let mut row = vec![Unpacked::default(); x.groups()];
for (i, r) in tile.cols().enumerate() {
    for t in tile.rows() {
        unpack(weight.row(r), &mut row);
        tile.row_mut(t)[i] = dot_unpacked(&row, x.int8_row(t));
    }
}
