//! How an output is cut into tiles, and how each is given to one thread only.

use std::{marker::PhantomData, ops::Range};

use super::sync::{AtomicU64, Ordering};

/// An output that is cut into tiles, all of one size but those at the right and lower edge, which
/// hold what is left. Tiles are numbered from left to right, then downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Rows of the whole.
    pub rows: usize,
    /// Columns of the whole.
    pub width: usize,
    /// Rows and columns of a tile, each at least 1.
    pub tile: (usize, usize),
}

impl Cut {
    pub(super) fn count(&self) -> usize {
        self.rows.div_ceil(self.tile.0) * self.across()
    }

    /// Tiles side by side.
    fn across(&self) -> usize {
        self.width.div_ceil(self.tile.1)
    }

    pub(super) fn tile(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let ((down, right), across) = (self.tile, self.across());
        let (top, left) = (i / across * down, i % across * right);
        (top..self.rows.min(top + down), left..self.width.min(left + right))
    }

    /// The number of the tile with these rows and columns.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn number(&self, rows: &Range<usize>, cols: &Range<usize>) -> usize {
        let Self { rows: height, width, tile: (down, right) } = *self;
        assert!(
            rows.start < height && cols.start < width,
            "a tile of rows {rows:?} and columns {cols:?} does not lie in {height} rows of {width}"
        );
        let i = rows.start / down * self.across() + cols.start / right;
        let expected = self.tile(i);
        assert!(
            (rows, cols) == (&expected.0, &expected.1),
            "a tile of rows {rows:?} and columns {cols:?} was taken of {height} rows of {width} in \
             tiles of {down} x {right}: tile {i} has rows {:?} and columns {:?}",
            expected.0,
            expected.1
        );
        i
    }
}

/// Which tiles have been taken: kept from one output to the next, so that nothing is allocated.
#[derive(Default)]
pub(super) struct Claims(Vec<AtomicU64>);

impl Claims {
    /// Nothing is taken of `n` tiles.
    pub(super) fn clear(&mut self, n: usize) {
        let words = n.div_ceil(64);
        if self.0.len() < words {
            self.0.resize_with(words, || AtomicU64::new(0));
        }
        self.0[..words].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Takes tile `i`, if nobody has: of several threads that try, one succeeds.
    pub(super) fn take(&self, i: usize) -> bool {
        let bit = 1 << (i % 64);
        self.0[i / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// The first of `n` tiles that nobody has taken.
    pub(super) fn untaken(&self, n: usize) -> Option<usize> {
        (0..n).find(|i| self.0[i / 64].load(Ordering::Relaxed) & 1 << (i % 64) == 0)
    }
}

/// A rectangle of the output, which no other thread has.
pub struct Tile<'a, T> {
    rows: Range<usize>,
    cols: Range<usize>,
    width: usize,
    base: *mut T,
    lifetime: PhantomData<&'a mut [T]>,
}

impl<T> Tile<'_, T> {
    /// Its rows in the whole output.
    #[must_use]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Its columns in the whole output.
    #[must_use]
    pub fn cols(&self) -> Range<usize> {
        self.cols.clone()
    }

    /// The tile's part of row `row` of the whole output.
    ///
    /// # Panics
    /// If the row is not in the tile.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        assert!(self.rows.contains(&row), "row {row} is not in this tile");
        // SAFETY: rows and columns are within the slice that the tiles were made of, and nobody
        // else has a tile with this part, see `Whole::tile`; `&mut self` keeps two parts of one
        // tile from being borrowed at once.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.base.add(row * self.width + self.cols.start),
                self.cols.len(),
            )
        }
    }
}

/// One of several outputs of a job, and how it is cut: see
/// [`Team::parallel_tiles`](super::Team::parallel_tiles).
pub struct Part<'a, T> {
    /// Rows of [`Part::width`] values.
    pub out: &'a mut [T],
    /// Values in a row.
    pub width: usize,
    /// Rows and columns of a tile.
    pub tile: (usize, usize),
}

/// The output of which tiles are made.
pub(super) struct Whole<'a, T> {
    base: *mut T,
    cut: Cut,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: threads use it for disjoint parts only, see `Whole::tile`.
unsafe impl<T: Send> Sync for Whole<'_, T> {}

impl<'a, T> Whole<'a, T> {
    /// The output and its cut; `None` if it is empty.
    ///
    /// # Panics
    /// If it is no whole number of rows.
    pub(super) fn cut(Part { out, width, tile }: Part<'a, T>) -> Option<Self> {
        if out.is_empty() {
            return None;
        }
        assert!(
            width > 0 && out.len().is_multiple_of(width),
            "{} values are no whole number of rows of {width}",
            out.len()
        );
        let rows = out.len() / width;
        let tile = (tile.0.clamp(1, rows), tile.1.clamp(1, width));
        Some(Self { base: out.as_mut_ptr(), cut: Cut { rows, width, tile }, lifetime: PhantomData })
    }

    pub(super) fn shape(&self) -> Cut {
        self.cut
    }

    /// Tile `i`.
    ///
    /// # Safety
    /// No other tile `i` of this output is in use.
    pub(super) unsafe fn tile(&self, i: usize) -> Tile<'a, T> {
        assert!(i < self.cut.count(), "tile {i} of {}", self.cut.count());
        // Different tiles of a cut have no part in common, and all are within the whole.
        let (rows, cols) = self.cut.tile(i);
        Tile { rows, cols, width: self.cut.width, base: self.base, lifetime: PhantomData }
    }
}
