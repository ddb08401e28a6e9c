//! Week 2, day 7, on fresh inputs.

use half::f16;
use tiny_llm::week2::{
    cache::{Cells, Run},
    streaming::{OnlineSoftmax, Query, attend_block, attend_streaming},
};
use tiny_llm_harness::fresh::Fresh;

#[test]
fn task_1() {
    let fresh = Fresh::new("week2-day7 task 1");
    for round in 0..3 {
        let mut softmax = OnlineSoftmax::default();
        for piece in 0..4 {
            let mut scores = fresh.f32s(fresh.from_to(1, 7));
            let hide = round == 1 && (piece == 0 || piece == 2);
            for score in &mut scores {
                *score = if hide { f32::NEG_INFINITY } else { *score * 9.0 };
            }
            let factor = softmax.absorb(&mut scores);
            fresh.answers("state", &[softmax.max, softmax.total, factor], 1e-4);
            fresh.answers("weights", &scores, 1e-5);
        }
    }
}

/// Returns `n` random numbers of keys or values, as f32 and as f16.
fn stored(fresh: &Fresh, n: usize) -> (Vec<f32>, Vec<f16>) {
    let x = fresh.f32s(n);
    let half = x.iter().map(|&x| f16::from_f32(x)).collect();
    (x, half)
}

/// Returns the keys and values in runs of the given `lengths`, as f16 if `half` is true.
fn runs<'a>(
    keys: &'a (Vec<f32>, Vec<f16>),
    values: &'a (Vec<f32>, Vec<f16>),
    half: bool,
    d: usize,
    lengths: &'a [usize],
) -> impl Iterator<Item = Run<'a>> {
    let mut start = 0;
    lengths.iter().map(move |&len| {
        let (first, range) = (start, start * d..(start + len) * d);
        start += len;
        let cells = |(full, halves): &'a (Vec<f32>, Vec<f16>)| {
            if half { Cells::F16(&halves[range.clone()]) } else { Cells::F32(&full[range.clone()]) }
        };
        Run { start: first, len, keys: cells(keys), values: cells(values) }
    })
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week2-day7 task 2");
    for half in [false, true] {
        let (heads, d) = (fresh.from_to(1, 4), 8 * fresh.from_to(1, 4));
        let lengths = [fresh.from_to(1, 50), fresh.from_to(60, 150)];
        let n = (lengths[0] + lengths[1]) * d;
        let (keys, values) = (stored(&fresh, n), stored(&fresh, n));
        let (q, scale) = (fresh.f32s(heads * d), 0.2 + 0.3 * fresh.uniform() as f32);
        let mut out = vec![7.0; heads * d];
        attend_streaming(&q, runs(&keys, &values, half, d, &lengths), d, scale, &mut out);
        fresh.answers("attention", &out, 1e-3);
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week2-day7 task 3");
    for half in [false, true] {
        let (n_queries, d) = (fresh.from_to(2, 20), 8 * fresh.from_to(1, 4));
        let lengths = [fresh.from_to(40, 90), fresh.from_to(60, 150)];
        let positions = lengths[0] + lengths[1];
        let (keys, values) = (stored(&fresh, positions * d), stored(&fresh, positions * d));
        let (q, scale) = (fresh.f32s(n_queries * d), 0.2 + 0.3 * fresh.uniform() as f32);
        let queries: Vec<Query> = q
            .chunks_exact(d)
            .map(|q| Query { q, visible: fresh.below(30)..fresh.from_to(31, positions) })
            .collect();
        let mut out = vec![7.0; n_queries * d];
        attend_block(&queries, runs(&keys, &values, half, d, &lengths), d, scale, &mut out);
        fresh.answers("attention", &out, 1e-3);
    }
}
