//! id: grid-sides
//! function: Grid::tile
//! says: Rows and columns of a tile are exchanged: `tile.0` is its rows.
        let across = self.width.div_ceil(self.tile.0);
        let (row, col) = (i / across * self.tile.1, i % across * self.tile.0);
        (row..self.rows.min(row + self.tile.1), col..self.width.min(col + self.tile.0))
