//! id: grid-area
//! function: Grid::count
//! says: You divide areas: where tiles do not fit evenly, each edge needs tiles of its own.
        (self.rows * self.width).div_ceil(self.tile.0 * self.tile.1)
