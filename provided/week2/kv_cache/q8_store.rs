//! Day 1. The keys or the values of a q8_0 cache.

use std::ops::Range;

use crate::week2::kernels::{
    q8_rows::row_words,
    vector::{narrow_q8, prefetch},
};

/// The q8_0 rows of a cache, one after the other. An index counts elements, as in caches of other
/// types. It must be a multiple of `D`, the length of a row.
#[derive(Debug, Clone)]
pub(crate) struct Q8Store {
    /// Scales and codes as f32 words, `[rows, row_words(D)]`.
    words: Vec<f32>,
    dim: usize,
}

impl Q8Store {
    /// Creates a store of `numbers` elements, all 0, in rows of `dim`. The operating system
    /// allocates its memory only as elements are written.
    pub(crate) fn new(numbers: usize, dim: usize) -> Self {
        let rows = numbers.checked_div(dim).unwrap_or(0);
        Self { words: vec![0.0; rows * row_words(dim)], dim }
    }

    /// Copies `n` elements from index `from` to index `to`.
    pub(crate) fn copy(&mut self, from: usize, to: usize, n: usize) {
        let (from, to) = (self.words_of(from, n), self.words_of(to, 0).start);
        self.words.copy_within(from, to);
    }

    /// Quantizes `numbers` and stores them at index `at`. They must be whole rows.
    pub(crate) fn put(&mut self, at: usize, numbers: &[f32]) {
        let (range, dim) = (self.words_of(at, numbers.len()), self.dim);
        let rows =
            bytemuck::cast_slice_mut(&mut self.words[range]).chunks_exact_mut(row_words(dim));
        numbers.chunks_exact(dim).zip(rows).for_each(|(x, row)| narrow_q8(x, row));
    }

    /// Prefetches the `n` elements at index `at`. `in_a_row` says whether they directly follow the
    /// elements that are being read now.
    pub(crate) fn prefetch(&self, at: usize, n: usize, in_a_row: bool) {
        prefetch(self.get(at, n), in_a_row);
    }

    /// Returns the words that hold the `n` elements at index `at`.
    pub(crate) fn get(&self, at: usize, n: usize) -> &[f32] {
        &self.words[self.words_of(at, n)]
    }

    /// Returns the range of words that hold the `n` elements at index `at`. Panics unless `at` and
    /// `n` are multiples of the row length.
    #[track_caller]
    fn words_of(&self, at: usize, n: usize) -> Range<usize> {
        let (dim, words) = (self.dim, row_words(self.dim));
        let whole = at.is_multiple_of(dim) && n.is_multiple_of(dim);
        assert!(
            whole,
            "found {n} numbers at index {at}, expected whole rows of {dim}, because a q8_0 cache \
             stores whole rows"
        );
        at / dim * words..(at + n) / dim * words
    }
}
