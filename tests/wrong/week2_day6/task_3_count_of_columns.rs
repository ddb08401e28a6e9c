//! id: grid-one-axis
//! function: Grid::count
//! says: You count tiles along one axis only: there are as many rows of tiles as the height asks for.
        self.width.div_ceil(self.tile.1)
