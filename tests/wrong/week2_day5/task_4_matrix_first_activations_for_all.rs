//! id: activations-not-advanced
//! function: matrix_matrix
//! says: All rows of your output are products with the first row of activations: row t of the output belongs to row t of x.
let mut row = vec![Unpacked::default(); x.groups()];
for (i, r) in tile.cols().enumerate() {
    unpack(weight.row(r), &mut row);
    for t in tile.rows() {
        tile.row_mut(t)[i] = dot_unpacked(&row, x.int8_row(0));
    }
}
