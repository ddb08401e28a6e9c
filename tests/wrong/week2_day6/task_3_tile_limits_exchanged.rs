//! id: grid-limits
//! function: Grid::tile
//! says: The ends are clipped at each other's limit: rows at `rows`, columns at `width`.
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.width.min(row + self.tile.0), col..self.rows.min(col + self.tile.1))
