//! id: thread-claims-nothing
//! function: take_tiles
//! says: Each thread goes through all tiles from the first: take the number from `next`, which all threads share, and count it up as you take it.
    for i in 0..grid.count() {
        work(grid.tile(i));
    }
