//! id: thread-count-zero
//! function: Grid::count
//! says: A rectangle smaller than a tile has no tile at all in your count: it has one.
        (self.rows / self.tile.0) * (self.width / self.tile.1)
