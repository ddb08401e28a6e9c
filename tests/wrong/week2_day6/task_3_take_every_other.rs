//! id: thread-two-claims
//! function: take_tiles
//! says: You count twice for one tile, so every second one is skipped.
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= grid.count() {
            return;
        }
        work(grid.tile(i));
        next.fetch_add(1, Ordering::Relaxed);
    }
