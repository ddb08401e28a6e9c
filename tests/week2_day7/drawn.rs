//! Week 2, day 7: random pieces, heads, runs and queries, compared with the definition in f64.

use std::ops::Range;

use tiny_llm::week2::{
    cache::{Cells, Run},
    streaming::{OnlineSoftmax, Query, attend_block, attend_streaming},
};
use tiny_llm_harness::check::{assert_accepts, resting_on};

use super::{ABSORB, BEFORE, Stored, by_definition::by_definition, drawn};

// Task 1

/// Two softmaxes absorb pieces of any length in turns. Some of the scores are hidden.
#[test]
fn task_1_absorb_random_pieces() {
    for seed in 0..200 {
        let mut softmaxes = [(); 2].map(|()| (OnlineSoftmax::default(), Vec::new()));
        let shape = drawn(seed, 12);
        for (i, draw) in shape.iter().enumerate() {
            let (softmax, seen) = &mut softmaxes[i % 2];
            let n = [0, 1, 3, 31, 32, 33, 70][((draw + 2.0) * 1.75) as usize % 7];
            // Every fourth piece is completely hidden, and so is every fifth score.
            let hidden = |j: usize| (draw * 100.0) as i32 % 4 == 0 || (i + j).is_multiple_of(5);
            let far = [0.0, 500.0, -3e4][seed as usize % 3];
            let scores: Vec<f32> = drawn(1000 * seed + i as u64, n)
                .iter()
                .enumerate()
                .map(
                    |(j, x)| if hidden(j) { f32::NEG_INFINITY } else { 6.0 * x + 5.0 * draw + far },
                )
                .collect();
            let largest = |all: &[f32]| all.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let before = largest(seen);
            seen.extend(&scores);
            let max = largest(seen);
            let weight = |s: f32| {
                if s == f32::NEG_INFINITY { 0.0 } else { (f64::from(s) - f64::from(max)).exp() }
            };
            let total: f64 = seen.iter().map(|&s| weight(s)).sum();
            let factor = if max == f32::NEG_INFINITY { 1.0 } else { weight(before) };
            let expected: Vec<f64> = scores.iter().map(|&s| weight(s)).collect();
            let mut weights = scores.clone();
            let found = softmax.absorb(&mut weights);
            let near = |found: f32, expected: f64| {
                (f64::from(found) - expected).abs() <= 1e-4 * expected + 1e-30
            };
            let wrong = weights.iter().zip(&expected).position(|(&w, &e)| !near(w, e));
            assert!(
                softmax.max == max
                    && near(softmax.total, total)
                    && near(found, factor)
                    && wrong.is_none(),
                "absorb of {n} scores ({scores:?}) after a maximum of {before} (seed {seed}, piece \
                 {})\n  found    maximum {}, total {}, factor {found}, weights {weights:?}\n  \
                 expected maximum {max}, total {total}, factor {factor}, weights {expected:?}\n  \
                 any piece may be empty or hidden; keep no state outside the OnlineSoftmax",
                i / 2,
                softmax.max,
                softmax.total
            );
        }
    }
}

// Tasks 2 and 3

impl Stored {
    fn said(&self) -> String {
        let half = if self.halves.is_some() { "f16" } else { "f32" };
        format!(
            "heads of size {}, runs of {:?} positions in {half} from position {} on",
            self.dim, self.lengths, self.start
        )
    }

    /// Compares `found`, the output of a query that sees `visible`, with the definition.
    #[track_caller]
    fn check(
        &self,
        what: &str,
        q: &[f32],
        visible: Range<usize>,
        scale: f32,
        found: &[f32],
        why: &str,
    ) {
        let seen = (visible.start - self.start) * self.dim..(visible.end - self.start) * self.dim;
        let expected = by_definition(q, &self.keys[seen.clone()], &self.values[seen], scale);
        let wrong = found.iter().zip(&expected).position(|(&found, expected)| {
            let difference = (f64::from(found) - expected).abs();
            difference.is_nan() || difference > 1e-4
        });
        assert!(
            wrong.is_none(),
            "{what}: {}, scale {scale}: element {} is {}, expected {}\n  {why}",
            self.said(),
            wrong.unwrap_or_default(),
            found[wrong.unwrap_or_default()],
            expected[wrong.unwrap_or_default()]
        );
    }
}

/// Head size, first position, and lengths of the runs.
const SHAPES: [(usize, usize, &[usize]); 10] = [
    (8, 0, &[70]),
    (6, 0, &[40]),
    (20, 32, &[32, 5]),
    (1, 0, &[1, 39]),
    (84, 64, &[64, 32, 9]),
    (5, 7, &[25, 31]),
    (130, 0, &[33]),
    (12, 1000, &[24, 32, 32, 12]),
    (255, 96, &[3]),
    (8, 0, &[64]),
];

/// Makes several calls in a row. None may depend on an earlier one.
#[test]
fn task_2_attend_streaming_with_various_shapes_and_runs() {
    resting_on(&[ABSORB], || {
        for (seed, (dim, start, lengths)) in SHAPES.into_iter().enumerate() {
            let heads = [4, 1, 16, 3, 7][seed % 5];
            let stored = Stored::drawn(40 * seed as u64, dim, start, lengths, seed % 3 == 1);
            let q = drawn(40 * seed as u64 + 7, heads * dim);
            let scale = [1.0, 0.5, 0.0, -0.125][seed % 4] / (dim as f32).sqrt();
            let mut out = vec![BEFORE; heads * dim];
            attend_streaming(&q, stored.runs(), dim, scale, &mut out);
            let end = start + lengths.iter().sum::<usize>();
            for (head, (q, out)) in q.chunks_exact(dim).zip(out.chunks_exact(dim)).enumerate() {
                let what = format!("attend_streaming, head {head} of {heads}");
                let why = "support any head size and any runs, and keep nothing from earlier calls";
                stored.check(&what, q, start..end, scale, out, why);
            }
        }
    });
}

/// The queries come in any order. Some see only early positions, some only late ones, some all.
#[test]
fn task_3_attend_block_with_random_visible_ranges() {
    resting_on(&[ABSORB], || {
        for (seed, (dim, start, lengths)) in SHAPES.into_iter().enumerate() {
            let n: usize = lengths.iter().sum();
            let stored = Stored::drawn(50 * seed as u64, dim, start, lengths, seed % 3 == 2);
            // The first query sees the last positions, and the last query the first ones. Those
            // between are random.
            let mut visible = vec![n / 2..n, n - 1..n, 0..n];
            visible.extend(drawn(50 * seed as u64 + 9, 8).chunks_exact(2).map(|pair| {
                let [a, b] = [pair[0], pair[1]].map(|x| ((x + 2.0) * 0.25 * n as f32) as usize % n);
                a.min(b)..a.max(b) + 1
            }));
            visible.extend([0..n.div_ceil(2), 0..1]);
            let q = drawn(50 * seed as u64 + 7, visible.len() * dim);
            for pass in 0..3 {
                if pass == 1 {
                    visible.reverse();
                }
                if pass == 2 {
                    // No query sees the first or the last third of the positions.
                    let inner = |at: usize| n / 3 + at * (n - 2 * (n / 3)) / n;
                    visible = visible
                        .iter()
                        .map(|v| inner(v.start)..inner(v.end).max(inner(v.start) + 1))
                        .collect();
                }
                let seen = |v: &Range<usize>| v.start + start..v.end + start;
                let queries: Vec<Query> = q
                    .chunks_exact(dim)
                    .zip(&visible)
                    .map(|(q, v)| Query { q, visible: seen(v) })
                    .collect();
                let scale = [1.0, 0.5, 0.0, -0.125][seed % 4] / (dim as f32).sqrt();
                let mut out = vec![BEFORE; q.len()];
                attend_block(&queries, stored.runs(), dim, scale, &mut out);
                for (i, (query, out)) in queries.iter().zip(out.chunks_exact(dim)).enumerate() {
                    let all: Vec<_> = queries.iter().map(|query| query.visible.clone()).collect();
                    let what = format!(
                        "attend_block of queries that see {all:?}: query {i}, which sees {:?}",
                        query.visible
                    );
                    let why = "queries may be in any order: the first may see only late positions, \
                               and the last only early ones; support any head size and any runs, \
                               and keep nothing from earlier calls";
                    stored.check(&what, query.q, query.visible.clone(), scale, out, why);
                }
            }
        }
    });
}

#[test]
fn task_3_attend_block_of_no_queries() {
    assert_accepts("attend_block of no queries", || {
        let key = [1.0; 4];
        let run = Run { start: 0, len: 1, keys: Cells::F32(&key), values: Cells::F32(&key) };
        attend_block(&[], std::iter::once(run), 4, 1.0, &mut []);
    });
}
