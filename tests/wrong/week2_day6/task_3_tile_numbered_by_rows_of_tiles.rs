//! id: grid-across
//! function: Grid::tile
//! says: You divide the number by the tiles below one another: it is the tiles side by side.
        let across = self.rows.div_ceil(self.tile.0);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1))
