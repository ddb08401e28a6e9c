//! id: thread-one-too-many
//! function: take_tiles
//! says: You take one tile too many: tiles are 0…count − 1.
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i > grid.count() {
            return;
        }
        work(grid.tile(i));
    }
