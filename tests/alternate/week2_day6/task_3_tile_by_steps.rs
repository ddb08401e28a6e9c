//! function: Grid::tile
//! how: the i-th of two nested loops
        let starts = (0..self.rows).step_by(self.tile.0).flat_map(|row| (0..self.width).step_by(self.tile.1).map(move |col| (row, col)));
        let (row, col) = starts.clone().nth(i).expect("tile i is in the grid");
        (row..(row + self.tile.0).min(self.rows), col..(col + self.tile.1).min(self.width))
