//! Cuts an output into tiles, and gives each tile to exactly one thread.

use std::{marker::PhantomData, ops::Range};

use super::sync::{AtomicU64, Ordering};

/// A division of an output into tiles of the same size, except those at the right and lower edges,
/// which may be smaller. Tiles are numbered from left to right, then from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Number of rows of the whole output.
    pub rows: usize,
    /// Number of columns of the whole output.
    pub width: usize,
    /// Rows and columns of a tile, each at least 1.
    pub tile: (usize, usize),
}

impl Cut {
    pub(super) fn count(&self) -> usize {
        self.rows.div_ceil(self.tile.0) * self.across()
    }

    /// Returns the number of tiles from the left edge to the right edge.
    fn across(&self) -> usize {
        self.width.div_ceil(self.tile.1)
    }

    pub(super) fn tile(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let ((down, right), across) = (self.tile, self.across());
        let (top, left) = (i / across * down, i % across * right);
        (top..self.rows.min(top + down), left..self.width.min(left + right))
    }

    /// Returns the index of the tile with these rows and columns.
    ///
    /// # Panics
    /// If there is no such tile.
    pub(super) fn number(&self, rows: &Range<usize>, cols: &Range<usize>) -> usize {
        let Self { rows: height, width, tile: (down, right) } = *self;
        assert!(
            rows.start < height && cols.start < width,
            "a tile of rows {rows:?} and columns {cols:?} is not within {height} rows of {width}"
        );
        let i = rows.start / down * self.across() + cols.start / right;
        let expected = self.tile(i);
        assert!(
            (rows, cols) == (&expected.0, &expected.1),
            "a tile of rows {rows:?} and columns {cols:?} was taken, but in {height} rows of \
             {width}, cut into tiles of {down} x {right}, tile {i} has rows {:?} and columns {:?}",
            expected.0,
            expected.1
        );
        i
    }
}

/// The set of tiles that have been taken. It is reused, so that a job allocates nothing.
#[derive(Default)]
pub(super) struct Claims(Vec<AtomicU64>);

impl Claims {
    /// Marks all of `n` tiles as not taken.
    pub(super) fn clear(&mut self, n: usize) {
        let words = n.div_ceil(64);
        if self.0.len() < words {
            self.0.resize_with(words, || AtomicU64::new(0));
        }
        self.0[..words].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Takes tile `i`. Returns false if it was already taken. If several threads try, only one
    /// succeeds.
    pub(super) fn take(&self, i: usize) -> bool {
        let bit = 1 << (i % 64);
        self.0[i / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Returns the index of the first of `n` tiles that has not been taken, or `None` if all have
    /// been.
    pub(super) fn untaken(&self, n: usize) -> Option<usize> {
        (0..n).find(|i| self.0[i / 64].load(Ordering::Relaxed) & 1 << (i % 64) == 0)
    }
}

/// A rectangle of the output to which its thread has exclusive access.
pub struct Tile<'a, T> {
    rows: Range<usize>,
    cols: Range<usize>,
    width: usize,
    base: *mut T,
    lifetime: PhantomData<&'a mut [T]>,
}

impl<T> Tile<'_, T> {
    /// Returns the tile's rows in the whole output.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Returns the tile's columns in the whole output.
    pub fn cols(&self) -> Range<usize> {
        self.cols.clone()
    }

    /// Returns the tile's part of row `row` of the whole output.
    ///
    /// # Panics
    /// If the row is not in the tile.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        assert!(self.rows.contains(&row), "row {row} is not in this tile");
        // SAFETY: rows and columns are within the slice that was cut into tiles. No other tile has
        // this part, see `Whole::tile`. `&mut self` prevents two borrows of one tile at the same
        // time.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.base.add(row * self.width + self.cols.start),
                self.cols.len(),
            )
        }
    }
}

/// One of several outputs of a job, and the size of its tiles. See
/// [`Team::parallel_parts`](super::Team::parallel_parts).
pub struct Part<'a, T> {
    /// The output: rows of [`Part::width`] values.
    pub out: &'a mut [T],
    /// Number of values in a row.
    pub width: usize,
    /// Rows and columns of a tile.
    pub tile: (usize, usize),
}

/// A whole output that is cut into tiles.
pub(super) struct Whole<'a, T> {
    base: *mut T,
    cut: Cut,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: threads access only disjoint parts, see `Whole::tile`.
unsafe impl<T: Send> Sync for Whole<'_, T> {}

impl<'a, T> Whole<'a, T> {
    /// Cuts an output into tiles. Returns `None` if the output is empty.
    ///
    /// # Panics
    /// If the output is not a whole number of rows.
    pub(super) fn cut(Part { out, width, tile }: Part<'a, T>) -> Option<Self> {
        if out.is_empty() {
            return None;
        }
        assert!(
            width > 0 && out.len().is_multiple_of(width),
            "{} values are not a whole number of rows of {width}",
            out.len()
        );
        let rows = out.len() / width;
        let tile = (tile.0.clamp(1, rows), tile.1.clamp(1, width));
        Some(Self { base: out.as_mut_ptr(), cut: Cut { rows, width, tile }, lifetime: PhantomData })
    }

    pub(super) fn shape(&self) -> Cut {
        self.cut
    }

    /// Returns tile `i`.
    ///
    /// # Safety
    /// Tile `i` of this output must not be in use.
    pub(super) unsafe fn tile(&self, i: usize) -> Tile<'a, T> {
        assert!(i < self.cut.count(), "found tile {i}, expected one below {}", self.cut.count());
        // The tiles of a cut don't overlap, and all are within the whole output.
        let (rows, cols) = self.cut.tile(i);
        Tile { rows, cols, width: self.cut.width, base: self.base, lifetime: PhantomData }
    }
}
