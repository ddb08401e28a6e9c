//! id: unseen
//! function: matrix_matrix
//! says: weight row by the column in the tile
    let mut row = vec![Unpacked::default(); x.groups()];
    for (i, r) in tile.cols.clone().enumerate() {
        unpack(weight.row(i), &mut row);
        for t in tile.rows.clone() {
            tile.row_mut(t)[i] = dot_unpacked(&row, x.int8_row(t));
        }
    }
