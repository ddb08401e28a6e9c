//! id: grid-short
//! function: Grid::tile
//! says: Each tile ends one column early: a range's end is not part of it.
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1).saturating_sub(1).max(col))
