//! function: take_tiles
//! how: the number is taken with a compare-and-exchange
    let mut i = next.load(Ordering::Relaxed);
    while i < grid.count() {
        match next.compare_exchange(i, i + 1, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                work(grid.tile(i));
                i = next.load(Ordering::Relaxed);
            }
            Err(now) => i = now,
        }
    }
