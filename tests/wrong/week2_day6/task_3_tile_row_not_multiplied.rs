//! id: grid-row-step
//! function: Grid::tile
//! says: A tile's row is not multiplied by its height.
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1))
