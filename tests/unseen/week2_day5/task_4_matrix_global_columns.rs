//! id: unseen
//! function: matrix_matrix
//! says: a column of the whole, in a row of the tile
    let mut row = vec![Unpacked::default(); x.groups()];
    for r in tile.cols.clone() {
        unpack(weight.row(r), &mut row);
        for t in tile.rows.clone() {
            tile.row_mut(t)[r] = dot_unpacked(&row, x.int8_row(t));
        }
    }
