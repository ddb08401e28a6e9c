//! id: grid-order
//! function: Grid::tile
//! says: Tiles are numbered downwards first: they go from left to right, then downwards.
        let down = self.rows.div_ceil(self.tile.0);
        let (row, col) = (i % down * self.tile.0, i / down * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1))
