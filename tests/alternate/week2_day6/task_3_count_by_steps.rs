//! function: Grid::count
//! how: counted with `step_by`
        (0..self.rows).step_by(self.tile.0).count() * (0..self.width).step_by(self.tile.1).count()
