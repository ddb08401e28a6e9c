//! id: thread-rows-remainder
//! function: Grid::count
//! says: The number of tiles is rounded down: what is left at the edge belongs to a tile too.
        (self.rows / self.tile.0).max(1) * (self.width / self.tile.1).max(1)
