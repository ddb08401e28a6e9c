//! A cache that records attention weights. The model passes every query to its cache, because some
//! caches compute attention themselves. This one only observes the queries.

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

use tiny_llm_formats::Tensor;
use tiny_llm_reference::{
    week1::attention::softmax,
    week2::{
        cache::{CacheShape, DenseCache, KvCache, Run, widen},
        plan::Plan,
        rows::Queries,
    },
};

/// A dense cache that also records attention weights.
pub struct Watched {
    cache: DenseCache,
    /// The attention weights of the last row of the last pass: for each layer, `[H_q, positions]`.
    weights: Mutex<Vec<Vec<f32>>>,
}

impl Watched {
    /// Wraps `cache`. No attention weights are recorded yet.
    #[must_use]
    pub fn new(cache: DenseCache) -> Self {
        let layers = cache.shape().layers;
        Self { cache, weights: Mutex::new(vec![Vec::new(); layers]) }
    }

    /// Returns the attention weights of the last token for every position up to its own position,
    /// as one list: `[layers, H_q, positions]`.
    #[must_use]
    pub fn weights(&self) -> Vec<f32> {
        self.weights.lock().unwrap_or_else(PoisonError::into_inner).concat()
    }

    /// Computes the attention weights of the last row in layer `layer`, as in week 1.
    fn look(&self, layer: usize, queries: Queries<'_>) -> Vec<f32> {
        let Queries { rows, q, group, head_dim: d } = queries;
        let Some(row) = rows.last() else { return Vec::new() };
        let (width, scale) = (q.len() / rows.len(), 1.0 / (d as f32).sqrt());
        let positions = row.position + 1;
        let mut weights = Vec::with_capacity(width / d * positions);
        let mut keys = vec![0.0; positions * d];
        for (head, q) in q[q.len() - width..].chunks_exact(d).enumerate() {
            for run in self.cache.runs(layer, row.sequence, head / group, 0..positions) {
                widen(run.keys, 0, run.len, d, &mut keys[run.start * d..]);
            }
            let score = |k: &[f32]| scale * q.iter().zip(k).map(|(q, k)| q * k).sum::<f32>();
            let scores = keys.chunks_exact(d).map(score).collect();
            let scores = Tensor::from_shape_vec(vec![positions], scores).expect("one each");
            weights.extend(softmax(&scores));
        }
        weights
    }
}

impl KvCache for Watched {
    fn shape(&self) -> CacheShape {
        self.cache.shape()
    }

    fn len(&self, sequence: usize) -> usize {
        self.cache.len(sequence)
    }

    fn write(&mut self, layer: usize, sequence: usize, position: usize, k: &[f32], v: &[f32]) {
        self.cache.write(layer, sequence, position, k, v);
    }

    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        self.cache.runs(layer, sequence, head, positions)
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        self.cache.advance(sequence, position);
    }

    fn truncate(&mut self, sequence: usize, len: usize) {
        self.cache.truncate(sequence, len);
    }

    fn attend(&self, _: &Plan, layer: usize, queries: Queries<'_>, _: &mut [f32]) -> bool {
        let weights = self.look(layer, queries);
        self.weights.lock().unwrap_or_else(PoisonError::into_inner)[layer] = weights;
        false
    }
}
