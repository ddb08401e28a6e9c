//! id: grid-across-cells
//! function: Grid::tile
//! says: You divide the number by the columns of cells: it is the tiles side by side, `width / tile.1`, rounded up.
        let across = self.width;
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1))
