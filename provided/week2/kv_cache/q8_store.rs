//! Day 1. The keys or the values of a cache of type q8_0.

use std::ops::Range;

use crate::week2::kernels::{
    q8_rows::row_words,
    vector::{narrow_q8, prefetch},
};

/// Rows of q8_0, one after the other. Indices count numbers, as those of other types do, and are
/// multiples of `D`.
#[derive(Debug, Clone)]
pub(crate) struct Q8Store {
    /// `[rows, row_words(D)]`
    words: Vec<f32>,
    dim: usize,
}

impl Q8Store {
    /// Zeros, for as many numbers. The system gives memory for them as they are written.
    pub(crate) fn new(numbers: usize, dim: usize) -> Self {
        let rows = numbers.checked_div(dim).unwrap_or(0);
        Self { words: vec![0.0; rows * row_words(dim)], dim }
    }

    /// Copies the `n` numbers from index `from` on to index `to` and what follows it.
    pub(crate) fn copy(&mut self, from: usize, to: usize, n: usize) {
        let (from, to) = (self.words_of(from, n), self.words_of(to, 0).start);
        self.words.copy_within(from, to);
    }

    /// Quantizes `numbers`, which are whole rows, from index `at` on.
    pub(crate) fn put(&mut self, at: usize, numbers: &[f32]) {
        let (range, dim) = (self.words_of(at, numbers.len()), self.dim);
        let rows =
            bytemuck::cast_slice_mut(&mut self.words[range]).chunks_exact_mut(row_words(dim));
        numbers.chunks_exact(dim).zip(rows).for_each(|(x, row)| narrow_q8(x, row));
    }

    /// Prefetches the `n` numbers from index `at` on. `in_a_row` says that they follow those that are
    /// read now.
    pub(crate) fn prefetch(&self, at: usize, n: usize, in_a_row: bool) {
        prefetch(self.get(at, n), in_a_row);
    }

    /// The words of the `n` numbers from index `at` on.
    pub(crate) fn get(&self, at: usize, n: usize) -> &[f32] {
        &self.words[self.words_of(at, n)]
    }

    /// Where the words of the `n` numbers from index `at` on are.
    #[track_caller]
    fn words_of(&self, at: usize, n: usize) -> Range<usize> {
        let (dim, words) = (self.dim, row_words(self.dim));
        let whole = at.is_multiple_of(dim) && n.is_multiple_of(dim);
        assert!(whole, "{n} numbers from index {at}: a q8_0 cache holds whole rows of {dim}");
        at / dim * words..(at + n) / dim * words
    }
}
