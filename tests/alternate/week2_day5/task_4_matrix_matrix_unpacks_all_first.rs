//! function: matrix_matrix
//! how: all rows of the tile are unpacked, then each row of activations meets all of them
let unpacked: Vec<Vec<Unpacked>> = tile
    .cols()
    .map(|r| {
        let mut row = vec![Unpacked::default(); x.super_blocks()];
        unpack(weight.row(r), &mut row);
        row
    })
    .collect();
for t in tile.rows() {
    for (out, row) in tile.row_mut(t).iter_mut().zip(&unpacked) {
        *out = dot_unpacked(row, x.int8_row(t));
    }
}
