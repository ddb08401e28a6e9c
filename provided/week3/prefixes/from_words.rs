//! Day 5. Restores a q8_0 cache from the saved 32-bit words of its rows, which hold packed scales
//! and codes.

use std::ops::Range;

use crate::week2::{
    cache::{CacheShape, KvCache, Run},
    kernels::{
        q8_rows::{Q8Rows, row_words},
        vector::widen_q8,
    },
};

/// Wraps a cache so that its `write` accepts keys and values in the form that [`KvCache::runs`]
/// returns. For a q8_0 cache, that form is the packed words of its rows. They are decoded to f32
/// and quantized again, which results in the same bytes. Writes to any other cache are passed
/// through unchanged.
pub struct FromWords<'a, C>(pub &'a mut C);

impl<C: KvCache> KvCache for FromWords<'_, C> {
    fn shape(&self) -> CacheShape {
        let shape = self.0.shape();
        let head_dim = if self.holds_q8() { row_words(shape.head_dim) } else { shape.head_dim };
        CacheShape { head_dim, ..shape }
    }

    fn len(&self, sequence: usize) -> usize {
        self.0.len(sequence)
    }

    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        if !self.holds_q8() {
            self.0.write(layer, sequence, position, keys, values);
            return;
        }
        let CacheShape { kv_heads, head_dim: dim, .. } = self.0.shape();
        let [keys, values] = [keys, values].map(|words| {
            let mut numbers = vec![0.0; kv_heads * dim];
            widen_q8(Q8Rows { words: bytemuck::cast_slice(words), dim }, &mut numbers);
            numbers
        });
        self.0.write(layer, sequence, position, &keys, &values);
    }

    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        self.0.runs(layer, sequence, head, positions)
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        self.0.advance(sequence, position);
    }

    fn truncate(&mut self, sequence: usize, len: usize) {
        self.0.truncate(sequence, len);
    }

    fn holds_q8(&self) -> bool {
        self.0.holds_q8()
    }
}
