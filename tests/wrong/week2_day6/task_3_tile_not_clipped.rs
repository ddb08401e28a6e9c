//! id: grid-clip
//! function: Grid::tile
//! says: The tiles at the edge reach beyond the rectangle: they end where it ends.
//! shows: reaches beyond the rectangle
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..col + self.tile.1)
