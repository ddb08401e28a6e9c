//! id: thread-takes-one
//! function: take_tiles
//! says: A thread takes one tile and stops: it goes on until there are none.
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= grid.count() {
            return;
        }
        work(grid.tile(i));
        return;
    }
