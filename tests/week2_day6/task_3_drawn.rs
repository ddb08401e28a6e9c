//! Week 2, day 6, task 3: grids of any size, including empty ones.

use std::sync::{Mutex, atomic::AtomicUsize};

use tiny_llm::week2::parallel::{Grid, take_tiles};
use tiny_llm_harness::check::assert_accepts;

/// Returns all small grids, with several sizes of tiles.
fn grids() -> impl Iterator<Item = Grid> {
    let sizes = (0..8).flat_map(|rows| (0..8).map(move |width| (rows, width)));
    sizes.flat_map(|(rows, width)| {
        [(1, 1), (1, 3), (2, 3), (3, 2), (4, 1), (2, 9), (9, 2), (9, 9)]
            .into_iter()
            .map(move |tile| Grid { rows, width, tile })
    })
}

#[test]
fn task_3_tiles_cover_every_cell_once() {
    for grid in grids() {
        let Grid { rows, width, tile: (down, across) } = grid;
        let count = assert_accepts(&format!("count of {grid:?}"), || grid.count());
        if rows * width == 0 {
            assert!(
                count == 0,
                "count of {grid:?}, which has no cells: found {count} tiles, expected none"
            );
            continue;
        }
        assert!(
            count <= rows * width,
            "count of {grid:?}: found {count} tiles, expected at most {}, the number of cells",
            rows * width
        );
        let mut often = vec![0; rows * width];
        let mut before = None;
        for i in 0..count {
            let (r, c) = assert_accepts(&format!("tile {i} of {grid:?}"), || grid.tile(i));
            let whole =
                (r.start + down).min(rows) == r.end && (c.start + across).min(width) == c.end;
            assert!(
                whole && r.start < rows && c.start < width,
                "{grid:?}: tile {i} is rows {r:?} and columns {c:?}, expected {down} rows and \
                 {across} columns (fewer only at the right and bottom edges), all within the grid"
            );
            let place = Some((r.start, c.start));
            assert!(
                place > before,
                "{grid:?}: tile {i} begins at {place:?} (row, column), and the one before it at \
                 {before:?}, expected an order from left to right, then from top to bottom"
            );
            before = place;
            r.for_each(|r| c.clone().for_each(|c| often[r * width + c] += 1));
        }
        let wrong = often.iter().position(|&n| n != 1);
        assert!(
            wrong.is_none(),
            "{grid:?}: row {}, column {} is in {} of its {count} tiles, expected one",
            wrong.unwrap_or_default() / width,
            wrong.unwrap_or_default() % width,
            often[wrong.unwrap_or_default()]
        );
    }
}

#[test]
fn task_3_one_thread_takes_all_tiles_in_order() {
    for grid in grids() {
        let taken = Mutex::new(Vec::new());
        let next = AtomicUsize::new(0);
        assert_accepts(&format!("take_tiles of {grid:?}"), || {
            take_tiles(&next, &grid, |tile| {
                let mut taken = taken.lock().expect("no thread panics while it holds the lock");
                taken.push(tile);
                assert!(
                    taken.len() <= 64,
                    "take_tiles of {grid:?}: more than 64 tiles were taken, expected {}",
                    grid.count()
                );
            });
        });
        let taken = taken.into_inner().expect("nobody panicked");
        let all: Vec<_> = (0..grid.count()).map(|i| grid.tile(i)).collect();
        assert!(
            taken == all,
            "take_tiles of {grid:?} by one thread: found {taken:?}, expected all tiles in order, \
             {all:?}"
        );
    }
}
