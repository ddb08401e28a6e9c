//! id: grid-rows-of-cells
//! function: Grid::count
//! says: You multiply by the rows of cells: rows of tiles are `rows / tile.0`, rounded up.
        self.rows * self.width.div_ceil(self.tile.1)
