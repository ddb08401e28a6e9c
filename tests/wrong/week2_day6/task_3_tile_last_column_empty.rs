//! id: grid-last-empty
//! function: Grid::tile
//! says: Where the width is a multiple of the tile's, your last tile is empty.
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..if i % across + 1 == across { col + self.width % self.tile.1 } else { col + self.tile.1 })
