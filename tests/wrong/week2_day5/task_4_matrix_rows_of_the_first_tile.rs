//! id: tile-offset-forgotten
//! function: matrix_matrix
//! says: A tile begins anywhere: its column i belongs to weight row tile.cols().start + i.
let mut row = vec![Unpacked::default(); x.groups()];
for (i, _) in tile.cols().enumerate() {
    unpack(weight.row(i), &mut row);
    for t in tile.rows() {
        tile.row_mut(t)[i] = dot_unpacked(&row, x.int8_row(t));
    }
}
