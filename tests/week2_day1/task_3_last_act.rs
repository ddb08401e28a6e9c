//! Week 2, day 1, task 3: which calls a cache gets for a row, and in which order.

use std::ops::Range;

use tiny_llm::week2::{
    cache::{CacheShape, CacheType, DenseCache, KvCache, Run},
    model::Workspace,
    rope::RopeLayout,
    rows::Row,
};

use super::{cache_of, fixtures, model, plan};

/// A cache that checks the trait's rules: a position is counted once all layers have written it,
/// and is not written again.
struct Strict {
    cache: DenseCache,
    /// For each layer, the (sequence, position) of every write.
    written: Vec<Vec<(usize, usize)>>,
}

impl KvCache for Strict {
    fn shape(&self) -> CacheShape {
        self.cache.shape()
    }

    fn len(&self, sequence: usize) -> usize {
        self.cache.len(sequence)
    }

    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        assert!(
            position >= self.len(sequence),
            "layer {layer} writes position {position} of sequence {sequence}, which already counts \
             {} positions: call `advance` for a row only after all layers have written it",
            self.len(sequence)
        );
        self.written[layer].push((sequence, position));
        self.cache.write(layer, sequence, position, keys, values);
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
        let here = (sequence, position);
        let times = |layer: &Vec<(usize, usize)>| layer.iter().filter(|at| **at == here).count();
        let found: Vec<usize> = self.written.iter().map(times).collect();
        assert!(
            found.iter().all(|n| *n == 1),
            "`advance` to position {position} of sequence {sequence}, which each layer wrote \
             {found:?} times: every layer must write a position exactly once before `advance`"
        );
        self.cache.advance(sequence, position);
    }

    fn truncate(&mut self, sequence: usize, len: usize) {
        self.written.iter_mut().for_each(|layer| layer.retain(|at| at.0 != sequence || at.1 < len));
        self.cache.truncate(sequence, len);
    }
}

#[test]
fn task_3_advances_after_all_layers_have_written() {
    let case = fixtures().case("task_3_model/llama");
    let (model, plan) = (model(&case, RopeLayout::HalfSplit), plan());
    let a = case.ids("a");
    let row = |sequence: usize, position: usize| Row {
        token: a[position],
        position,
        sequence,
        logits: position.is_multiple_of(2),
    };
    let passes = [
        vec![row(0, 0)],
        vec![row(1, 0), row(0, 1), row(1, 1), row(1, 2)],
        vec![row(0, 2), row(0, 3)],
        vec![row(1, 3), row(1, 4), row(0, 4)],
    ];
    let layers = model.layers.len();
    let mut dense = cache_of(&model, 2, 8, CacheType::F32);
    let mut strict = Strict { cache: dense.clone(), written: vec![Vec::new(); layers] };
    let mut work = Workspace::default();
    for pass in &passes {
        let expected = model.forward(pass, &mut dense, &plan, &mut work).to_vec();
        let found = model.forward(pass, &mut strict, &plan, &mut work);
        assert!(
            found == expected,
            "forward of {pass:?}: the logits change if the cache checks its calls, expected the \
             same logits"
        );
    }
    assert_eq!(
        (strict.len(0), strict.len(1)),
        (5, 5),
        "positions in the cache for each of the two sequences"
    );
}
