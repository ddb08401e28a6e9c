//! Week 2, day 6, task 3: how threads share the tiles of an output.

use super::*;

/// Each output's rows, columns and size of a tile, and the expected number of tiles.
const GRIDS: [(Cut, usize); 9] = [
    ((1, 13, (1, 4)), 4),
    ((1, 3, (1, 4)), 1),
    ((1, 1, (1, 1)), 1),
    ((5, 7, (2, 3)), 9),
    ((5, 10, (2, 3)), 12),
    ((6, 8, (2, 4)), 6),
    ((3, 32, (3, 16)), 2),
    ((7, 2, (1, 2)), 7),
    ((4, 5, (9, 9)), 1),
];

fn grid(case: (usize, usize, (usize, usize))) -> Grid {
    let (rows, width, tile) = case;
    Grid { rows, width, tile }
}

/// Returns a description of a grid in words.
fn said(grid: &Grid) -> String {
    let Grid { rows, width, tile: (down, across) } = grid;
    format!("{rows} x {width} in tiles of {down} x {across}")
}

/// Returns the title of a picture, with a legend.
fn pictured(what: &str) -> String {
    format!("{what} (a, b, c … are tiles 0, 1, 2 …; - belongs to no tile, + to several)")
}

/// Returns a picture of which tile each cell belongs to, row by row: `-` for none, `+` for several.
fn drawn(grid: &Grid, tiles: &[(Range<usize>, Range<usize>)]) -> String {
    let cell = |row: usize, col: usize| {
        let mut owners = tiles
            .iter()
            .enumerate()
            .filter(|(_, (rows, cols))| rows.contains(&row) && cols.contains(&col));
        match (owners.next(), owners.next()) {
            (None, _) => '-',
            (Some((i, _)), None) => char::from(b'a' + (i % 26) as u8),
            _ => '+',
        }
    };
    let row = |row: usize| (0..grid.width).map(|col| cell(row, col)).collect::<String>();
    (0..grid.rows).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn task_3_count_returns_number_of_tiles() {
    let list = |count: &dyn Fn(Grid, usize) -> usize| {
        let line = |&(case, expected): &(_, usize)| {
            format!("{}: {}", said(&grid(case)), count(grid(case), expected))
        };
        GRIDS.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    assert_picture(
        "Grid::count: numbers of tiles",
        &list(&|grid, _| grid.count()),
        &list(&|_, expected| expected),
    );
}

#[test]
fn task_3_empty_grids_have_no_tiles() {
    for (rows, width) in [(0, 7), (5, 0), (0, 0)] {
        let grid = Grid { rows, width, tile: (2, 3) };
        let found = assert_accepts(&format!("count of {grid:?}"), || grid.count());
        assert_answer(&format!("{grid:?}: number of tiles"), &found, &0);
        let taken = AtomicUsize::new(0);
        take_tiles(&AtomicUsize::new(0), &grid, |_| {
            taken.fetch_add(1, Relaxed);
        });
        assert_answer(
            &format!("{grid:?}: number of tiles that a thread takes"),
            &taken.into_inner(),
            &0,
        );
    }
}

#[test]
fn task_3_tiles_of_one_row() {
    // Doesn't call `count`, so that this test needs only `tile`.
    let grid = grid((1, 13, (1, 4)));
    let tiles: Vec<_> = (0..4).map(|i| grid.tile(i)).collect();
    let ends = |tiles: &[(Range<usize>, Range<usize>)]| {
        let line = |(name, (rows, cols)): (char, &(Range<usize>, Range<usize>))| {
            format!("\n{name}: rows {rows:?}, columns {cols:?}")
        };
        ('a'..).zip(tiles).map(line).collect::<String>()
    };
    let expected = [0..4, 4..8, 8..12, 12..13].map(|cols| (0..1, cols));
    let found = drawn(&grid, &tiles) + &ends(&tiles);
    assert_picture(
        &pictured("13 columns in tiles of 4"),
        &found,
        &format!("aaaabbbbccccd{}", ends(&expected)),
    );
    let inside = tiles.iter().all(|(rows, cols)| rows.end <= 1 && cols.end <= 13);
    assert!(inside, "{}: a tile reaches beyond the rectangle: {tiles:?}", said(&grid));
}

#[test]
fn task_3_tiles_of_several_rows() {
    for (case, expected) in [
        ((5, 7, (2, 3)), "aaabbbc\naaabbbc\ndddeeef\ndddeeef\nggghhhi"),
        ((5, 10, (2, 3)), "aaabbbcccd\naaabbbcccd\neeefffgggh\neeefffgggh\niiijjjkkkl"),
        ((5, 6, (2, 3)), "aaabbb\naaabbb\ncccddd\ncccddd\neeefff"),
        ((4, 7, (2, 3)), "aaabbbc\naaabbbc\ndddeeef\ndddeeef"),
        ((3, 4, (2, 4)), "aaaa\naaaa\nbbbb"),
    ] {
        let grid = grid(case);
        let n = expected.bytes().max().map_or(0, |last| usize::from(last - b'a') + 1);
        let tiles: Vec<_> = (0..n).map(|i| grid.tile(i)).collect();
        assert_picture(&pictured(&said(&grid)), &drawn(&grid, &tiles), expected);
        let inside =
            tiles.iter().all(|(rows, cols)| rows.end <= grid.rows && cols.end <= grid.width);
        assert!(inside, "{}: a tile reaches beyond the rectangle: {tiles:?}", said(&grid));
    }
}

#[test]
fn task_3_tiles_of_large_grids() {
    let grid = Grid { rows: 3, width: 1_000_001, tile: (2, 2) };
    let (found, half) = (grid.count(), 500_001);
    assert!(found == 2 * half, "count of {grid:?}: found {found} tiles, expected {}", 2 * half);
    for (i, expected) in [
        (40_000, (0..2, 80_000..80_002)),
        (half - 1, (0..2, 1_000_000..1_000_001)),
        (half, (2..3, 0..2)),
        (2 * half - 1, (2..3, 1_000_000..1_000_001)),
    ] {
        let found = grid.tile(i);
        assert!(found == expected, "{grid:?}: tile {i} is {found:?}, expected {expected:?}");
    }
    let (next, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let grid = Grid { rows: 2000, width: 4, tile: (1, 2) };
    take_tiles(&next, &grid, |_| {
        taken.fetch_add(1, Relaxed);
    });
    let taken = taken.into_inner();
    assert!(taken == 4000, "{grid:?}: one thread takes {taken} tiles, expected all 4000");
}

#[test]
fn task_3_one_thread_takes_every_tile_once() {
    for (case, _) in GRIDS {
        let grid = grid(case);
        let taken = Mutex::new(Vec::new());
        // Without a limit, an endless loop would never report.
        let next = AtomicUsize::new(0);
        take_tiles(&next, &grid, |tile| {
            let mut taken = taken.lock().expect("no thread panics while it holds the lock");
            taken.push(tile);
            assert!(
                taken.len() <= 64,
                "take_tiles of {grid:?}: at least 64 tiles were taken, expected {}",
                grid.count()
            );
        });
        let taken = taken.into_inner().expect("nobody panicked");
        let all: Vec<_> = (0..grid.count()).map(|i| grid.tile(i)).collect();
        assert_picture(
            &pictured(&format!("tiles that one thread takes of {}", said(&grid))),
            &drawn(&grid, &taken),
            &drawn(&grid, &all),
        );
    }
}

#[test]
fn task_3_take_tiles_skips_tiles_already_taken() {
    let grid = grid((1, 20, (1, 4)));
    // The first of five tiles is already taken.
    let next = AtomicUsize::new(1);
    let taken = Mutex::new(Vec::new());
    take_tiles(&next, &grid, |(_, cols)| {
        taken
            .lock()
            .expect("no thread panics while it holds the lock")
            .push((cols.start, cols.end));
    });
    let taken = taken.into_inner().expect("nobody panicked");
    assert_answer(
        "columns of the tiles that a thread takes if the first of five is already taken",
        &taken,
        &vec![(4, 8), (8, 12), (12, 16), (16, 20)],
    );
    // The next thread finds no tile.
    let more = AtomicUsize::new(0);
    take_tiles(&next, &grid, |_| {
        more.fetch_add(1, Relaxed);
    });
    assert_answer(
        "number of tiles that another thread takes if all are already taken",
        &more.into_inner(),
        &0,
    );
}

#[test]
fn task_3_threads_write_every_cell_once() {
    for (threads, case) in
        [1, 2, 3, 5].into_iter().flat_map(|threads| GRIDS.map(|(case, _)| (threads, case)))
    {
        let grid = grid(case);
        let mut out = vec![0u32; grid.rows * grid.width];
        Team::new(threads).parallel_tiles(&mut out, grid.width, grid.tile, |tile| {
            for row in tile.rows() {
                tile.row_mut(row).iter_mut().for_each(|cell| *cell += 1);
            }
        });
        let what = format!(
            "number of writes to each cell of a {} x {} output by {threads} threads",
            grid.rows, grid.width
        );
        assert_answer(&what, &out, &vec![1; grid.rows * grid.width]);
    }
}

/// A counter that two threads share. When one thread uses it for the `at`-th time, the other thread
/// first runs from start to end, so that a race is always found.
struct Interrupted<'a> {
    number: AtomicUsize,
    uses: AtomicUsize,
    at: usize,
    other: &'a (dyn Fn(&AtomicUsize) + Sync),
}

impl Counter for Interrupted<'_> {
    fn number(&self) -> &AtomicUsize {
        let uses = self.uses.fetch_add(1, Relaxed) + 1;
        assert!(
            uses <= 1000,
            "take_tiles: one thread used `next` more than 1000 times (interrupted before use {}), \
             but it must stop after the last tile",
            self.at
        );
        if uses == self.at {
            (self.other)(&self.number);
        }
        &self.number
    }
}

/// Interrupts a thread that takes tiles before it uses the counter for the `at`-th time, and lets
/// another thread take all remaining tiles. Returns what goes wrong, or `None` if the first thread
/// uses the counter less often.
fn interrupted(grid: &Grid, at: usize) -> Option<Vec<String>> {
    let count = grid.width;
    // The last element counts all tiles that are past the end.
    let taken: Vec<AtomicUsize> = (0..=count).map(|_| AtomicUsize::new(0)).collect();
    let take = |(rows, cols): (Range<usize>, Range<usize>)| {
        let i = if rows == (0..1) && cols.len() == 1 { cols.start.min(count) } else { count };
        assert!(
            taken[i].fetch_add(1, Relaxed) < 64,
            "take_tiles: tile {i} was taken 64 times, expected once"
        );
    };
    let other = |number: &AtomicUsize| take_tiles(number, grid, take);
    let (number, uses) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let next = Interrupted { number, uses, at, other: &other };
    take_tiles(&next, grid, take);
    let often = taken.iter().enumerate().filter_map(|(i, n)| match (i == count, n.load(Relaxed)) {
        (true, 0) | (false, 1) => None,
        (true, n) => Some(format!("a tile past the end was taken {n} times")),
        (false, n) => Some(format!("tile {i} was taken {n} times")),
    });
    let wrong =
        often.map(|what| format!("interrupted before use {at} of `next`: {what}")).collect();
    (at <= next.uses.into_inner()).then_some(wrong)
}

#[test]
fn task_3_take_tiles_is_race_free() {
    let grid = grid((1, 2, (1, 1)));
    assert!(
        grid.count() == 2 && (0..2).all(|i| grid.tile(i) == (0..1, i..i + 1)),
        "this test depends on `count` and `tile`, and one of them is wrong: make their tests green \
         first"
    );
    let wrong: Vec<String> = (1..).map_while(|at| interrupted(&grid, at)).flatten().collect();
    let right = "each tile was taken once, wherever the thread was interrupted";
    let found = if wrong.is_empty() { right.to_owned() } else { wrong.join("\n") };
    let what = "two tiles and two threads, where one is interrupted while the other takes the \
                remaining tiles";
    assert_picture(what, &found, right);
}
