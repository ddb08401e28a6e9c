//! The input of matrix products: rows of activations as f32, and the same rows quantized.

use std::ops::Deref;

#[cfg(any(target_arch = "x86_64", test))]
use crate::amx::activations::Int8Tile;
pub use crate::int8::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK};
use crate::parallel::{Schedule, Team};

/// Number of values that a thread quantizes at a time. Quantizing fewer would take less time than a
/// barrier.
const QUANTIZED: usize = 4096;

/// Number of rows that a thread copies at a time.
const GRAIN: usize = 8;

/// The input of a layer's matrices, computed once and used by all of them.
#[derive(Debug, Default)]
pub struct Input {
    /// Number of rows.
    pub rows: usize,
    /// Number of values in a row.
    pub cols: usize,
    /// Values, `[rows, cols]`.
    pub values: Vec<f32>,
    /// The quantized rows, `[rows, super_blocks]`. They match the values only while the input is
    /// [`Prepared`] with integers.
    pub int8: Vec<Int8SuperBlock>,
    /// The quantized rows in the layout of a matrix unit, `[⌈rows / 16⌉, super_blocks]`. Valid only
    /// if `has_tiles`. The buffer is kept for reuse.
    #[cfg(any(target_arch = "x86_64", test))]
    pub(crate) tiles: Vec<Int8Tile>,
    /// Whether `tiles` match the current `int8`.
    #[cfg(any(target_arch = "x86_64", test))]
    pub(crate) has_tiles: bool,
}

/// Resizes a buffer to `n` elements with unspecified contents. If it has to grow, it is replaced by
/// new memory that the system zeroes page by page, when each page is first written.
pub fn room(values: &mut Vec<f32>, n: usize) {
    if values.capacity() < n {
        *values = vec![0.0; n];
    } else {
        values.resize(n, 0.0);
    }
}

/// An input that is ready for matrix products. This value borrows the input, so nothing can write
/// to the input while it exists, and the integers always match the values.
#[derive(Debug, Clone, Copy)]
pub struct Prepared<'a> {
    input: &'a Input,
    per_scale: Option<usize>,
}

impl Prepared<'_> {
    /// Returns the number of activations that share a scale in the integers: [`BLOCK`] or
    /// [`SUPER_BLOCK`]. Returns `None` if there are no integers. Then the input can only be
    /// multiplied as f32.
    pub fn per_scale(&self) -> Option<usize> {
        self.per_scale
    }
}

impl Deref for Prepared<'_> {
    type Target = Input;

    fn deref(&self) -> &Input {
        self.input
    }
}

impl Input {
    /// Creates an input `[values.len() / cols, cols]` from values and integers that were quantized
    /// elsewhere.
    ///
    /// # Panics
    /// If the values aren't whole rows, or the number of super-blocks is wrong.
    pub fn with_integers(cols: usize, values: Vec<f32>, int8: Vec<Int8SuperBlock>) -> Self {
        let rows = values.len() / cols;
        let x = Self {
            rows,
            cols,
            values,
            int8,
            #[cfg(any(target_arch = "x86_64", test))]
            tiles: Vec::new(),
            #[cfg(any(target_arch = "x86_64", test))]
            has_tiles: false,
        };
        assert!(
            x.values.len() == rows * cols && x.int8.len() == rows * x.super_blocks(),
            "{} values and {} super-blocks of integers do not form rows of {cols} values",
            x.values.len(),
            x.int8.len()
        );
        x
    }

    /// Resizes the input to `rows` rows of `cols` values, with unspecified contents. Write the
    /// values, then prepare the input. Allocates only if it has never been this large.
    pub fn resize(&mut self, rows: usize, cols: usize) {
        (self.rows, self.cols) = (rows, cols);
        room(&mut self.values, rows * cols);
        #[cfg(any(target_arch = "x86_64", test))]
        {
            self.has_tiles = false;
        }
    }

    /// Returns the number of super-blocks in a row.
    #[inline]
    pub fn super_blocks(&self) -> usize {
        self.cols.div_ceil(SUPER_BLOCK)
    }

    /// Returns row `r`, `[cols]`.
    #[inline]
    pub fn row(&self, r: usize) -> &[f32] {
        &self.values[r * self.cols..][..self.cols]
    }

    /// Returns row `r` as integers, `[super_blocks]`.
    #[inline]
    pub fn int8_row(&self, r: usize) -> &[Int8SuperBlock] {
        &self.int8[r * self.super_blocks()..][..self.super_blocks()]
    }

    /// Quantizes [`Input::values`] into [`Input::int8`], with one scale per `per_scale` values:
    /// [`BLOCK`] or [`SUPER_BLOCK`]. Weights with blocks longer than `per_scale` can't be
    /// multiplied by the result. For weights with shorter blocks, the result is less precise than
    /// necessary.
    ///
    /// `quantize_activations(x, per_scale, super_blocks)` must write the super-blocks of one row.
    pub fn quantize_with<S: Schedule>(
        &mut self,
        team: &Team<S>,
        per_scale: usize,
        quantize_activations: impl Fn(&[f32], usize, &mut [Int8SuperBlock]) + Sync,
    ) -> Prepared<'_> {
        let (cols, super_blocks) = (self.cols, self.super_blocks());
        self.int8.resize_with(self.rows * super_blocks, Int8SuperBlock::default);
        #[cfg(any(target_arch = "x86_64", test))]
        {
            self.has_tiles = false;
        }
        let grain = QUANTIZED.div_ceil(cols.max(1));
        team.parallel_rows(&mut self.int8, super_blocks, grain, |r, row| {
            quantize_activations(&self.values[r * cols..][..cols], per_scale, row);
        });
        self.with_int8(per_scale)
    }

    /// Copies rows of another input, including their integers: row `i` of this input becomes a copy
    /// of row `of(i)` of `from`.
    pub fn gather<S: Schedule>(
        &mut self,
        team: &Team<S>,
        from: Prepared<'_>,
        rows: usize,
        of: impl Fn(usize) -> usize + Sync,
    ) -> Prepared<'_> {
        let (cols, super_blocks) = (from.cols, from.super_blocks());
        self.resize(rows, cols);
        team.parallel_rows(&mut self.values, cols, GRAIN, |i, row| {
            row.copy_from_slice(from.row(of(i)));
        });
        let Some(per_scale) = from.per_scale() else { return self.without_int8() };
        self.int8.resize_with(rows * super_blocks, Int8SuperBlock::default);
        team.parallel_rows(&mut self.int8, super_blocks, GRAIN, |i, row| {
            row.clone_from_slice(from.int8_row(of(i)));
        });
        #[cfg(any(target_arch = "x86_64", test))]
        if from.has_tiles && rows >= crate::amx::FROM {
            self.make_tiles(team);
        }
        self.with_int8(per_scale)
    }

    /// Copies the integers into the layout of a matrix unit. Call [`Input::with_int8`] afterwards
    /// to prepare the input again.
    #[cfg(any(target_arch = "x86_64", test))]
    pub(crate) fn make_tiles<S: Schedule>(&mut self, team: &Team<S>) {
        let (rows, super_blocks) = (self.rows, self.super_blocks());
        self.has_tiles = true;
        self.tiles.resize_with(rows.div_ceil(16) * super_blocks, Int8Tile::default);
        team.parallel_rows(&mut self.tiles, super_blocks, 1, |t, tiles| {
            for (g, tile) in tiles.iter_mut().enumerate() {
                let rows = 16 * t..rows.min(16 * (t + 1));
                tile.fill(rows.map(|row| &self.int8[row * super_blocks + g]));
            }
        });
    }

    /// Prepares the input for kernels that multiply f32.
    pub fn without_int8(&self) -> Prepared<'_> {
        Prepared { input: self, per_scale: None }
    }

    /// Prepares the input for kernels that multiply integers. The caller must have written
    /// [`Input::int8`], with one scale per `per_scale` activations.
    ///
    /// # Panics
    /// If [`Input::int8`] doesn't have `rows · super_blocks` elements.
    pub fn with_int8(&self, per_scale: usize) -> Prepared<'_> {
        let (found, expected) = (self.int8.len(), self.rows * self.super_blocks());
        assert_eq!(
            found, expected,
            "found {found} int8 super-blocks, expected {expected} for {} rows of {} values",
            self.rows, self.cols
        );
        Prepared { input: self, per_scale: Some(per_scale) }
    }
}
