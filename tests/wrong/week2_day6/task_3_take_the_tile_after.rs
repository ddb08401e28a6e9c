//! id: thread-claim-off-by-one
//! function: take_tiles
//! says: You work on the tile after the one you took: `fetch_add` returns the number from before it added.
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= grid.count() {
            return;
        }
        if i + 1 < grid.count() {
            work(grid.tile(i + 1));
        }
    }
