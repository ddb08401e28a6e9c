//! id: tile-offset-forgotten
//! function: matrix_matrix
//! says: A tile begins anywhere: its rows are numbered as in the whole output, and so are those of x.
let mut row = vec![Unpacked::default(); x.groups()];
for (i, r) in tile.cols().enumerate() {
    unpack(weight.row(r), &mut row);
    for t in tile.rows() {
        tile.row_mut(t)[i] = dot_unpacked(&row, x.int8_row(t - tile.rows().start));
    }
}
