//! id: grid-end-length
//! function: Grid::tile
//! says: The end of a range is no length: it is start plus length.
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.tile.1.min(self.width - col))
