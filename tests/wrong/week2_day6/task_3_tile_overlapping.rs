//! id: grid-overlap
//! function: Grid::tile
//! says: Tiles overlap: the end of a tile is the start of the next, and no column belongs to both.
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1 + 1))
