//! id: thread-rows-remainder
//! function: Grid::tile
//! says: You count the tiles side by side rounded down, so the narrow one at the right edge is left out and the numbering shifts.
        let across = (self.width / self.tile.1).max(1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1))
