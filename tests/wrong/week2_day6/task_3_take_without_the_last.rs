//! id: thread-rows-remainder
//! function: take_tiles
//! says: The last tile is never taken.
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i + 1 >= grid.count() {
            return;
        }
        work(grid.tile(i));
    }
