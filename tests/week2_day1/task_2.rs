//! Week 2, day 1, task 2: attention of one row.

use ndarray::Axis;
use tiny_llm::week2::{
    attention::{attend, attend_two_pass},
    cache::{CacheShape, CacheType, Cells, DenseCache, KvCache, Run},
    rows::{Queries, Row},
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{check::assert_accepts, fixtures::random};

use super::{
    attention_over, by_definition::by_definition, check_attention, check_run, cut, fixtures, plan,
};

#[test]
fn task_2_attend_two_pass_over_one_run() {
    check_attention("f32", &[9]);
}

#[test]
fn task_2_attend_two_pass_over_several_runs() {
    for lengths in [&[3, 1, 5][..], &[8, 1], &[1; 9]] {
        check_attention("f32", lengths);
    }
}

#[test]
fn task_2_attend_two_pass_with_large_scores() {
    check_attention("sharp", &[7]);
}

#[test]
fn task_2_attend_two_pass_with_very_negative_scores() {
    check_attention("far_below_0", &[7]);
}

#[test]
fn task_2_attend_two_pass_over_one_position() {
    check_attention("one_position", &[1]);
}

#[test]
fn task_2_attend_two_pass_with_f16_cache() {
    let case = fixtures().case("task_2_attention/f16");
    // Through task 1's cache, which rounds the numbers to f16.
    let shape = CacheShape { layers: 1, sequences: 1, kv_heads: 1, capacity: 6, head_dim: 8 };
    let mut cache = DenseCache::new(shape, CacheType::F16);
    let (keys, values) = (case.tensor("keys"), case.tensor("values"));
    for (position, (k, v)) in keys.outer_iter().zip(values.outer_iter()).enumerate() {
        cache.write(
            0,
            0,
            position,
            &k.iter().copied().collect::<Vec<_>>(),
            &v.iter().copied().collect::<Vec<_>>(),
        );
    }
    let run = cache.run(0, 0, 0, 0..6);
    let found = attention_over(&case, run.keys, run.values, &[4, 2]);
    check_run(&case, "output", &found, "runs of [4, 2] positions, f16");
}

/// Scores fall by 37 over 300 positions, in ten heads, so the smallest weight is about e^−37.
#[test]
fn task_2_attend_two_pass_with_tiny_weights() {
    let (heads, positions) = (10, 300);
    let step = 0.125;
    let keys: Vec<f32> = (0..positions).map(|p| -step * p as f32).collect();
    // Each value is the inverse of its weight, so every position contributes the same to the sum.
    let values: Vec<f32> = (0..positions).map(|p| (step * p as f32).exp()).collect();
    let total: f64 = (0..positions).map(|p| (-f64::from(step) * p as f64).exp()).sum();
    let expected = positions as f64 / total;
    for lengths in [vec![300], vec![1; 300], vec![100, 200]] {
        let runs = cut(Cells::F32(&keys), Cells::F32(&values), 1, &lengths);
        let mut out = vec![7.0; heads];
        attend_two_pass(&[1.0; 10], || runs.iter().copied(), 1, 1.0, &mut out);
        for (head, &found) in out.iter().enumerate() {
            assert!(
                (f64::from(found) - expected).abs() <= 1e-4 * expected,
                "attend_two_pass of ten heads over 300 positions in {} runs, with weights down to \
                 e^−37 and values up to e^37: head {head} is {found}, expected {expected:.5}\n  \
                 tiny weights must be right too, with any number of positions, runs and heads",
                runs.len()
            );
        }
    }
}

/// Makes several calls in a row. None may depend on an earlier one.
#[test]
fn task_2_attend_two_pass_with_various_shapes_and_runs() {
    for (seed, (d, heads, start, lengths)) in [
        (8, 2, 0, &[9][..]),
        (3, 5, 40, &[2, 1, 4]),
        (1, 1, 7, &[1]),
        (20, 3, 1000, &[30, 30, 10]),
        (6, 9, 0, &[1, 1, 1]),
        (84, 2, 64, &[64, 5]),
        (6, 9, 32, &[1, 2]),
        (5, 4, 5, &[3, 17, 1, 1]),
        (8, 2, 40, &[9]),
    ]
    .into_iter()
    .enumerate()
    {
        let positions: usize = lengths.iter().sum();
        let numbers = |part: u64, n: usize| -> Vec<f32> {
            random(2200 + 10 * seed as u64 + part, &[n]).iter().copied().collect()
        };
        let q = numbers(0, heads * d);
        let (keys, values) = (numbers(1, positions * d), numbers(2, positions * d));
        let scale = [0.5, 0.0, 1.0, -0.25][seed % 4];
        let runs: Vec<Run> = cut(Cells::F32(&keys), Cells::F32(&values), d, lengths)
            .into_iter()
            .map(|run| Run { start: run.start + start, ..run })
            .collect();
        let mut out = vec![7.0; heads * d];
        let what = format!(
            "attend_two_pass of {heads} heads of size {d} over runs of {lengths:?} positions from \
             position {start} on, scale {scale}"
        );
        assert_accepts(&what, || {
            attend_two_pass(&q, || runs.iter().copied(), d, scale, &mut out);
        });
        for (head, (q, found)) in q.chunks_exact(d).zip(out.chunks_exact(d)).enumerate() {
            let expected = by_definition(q, &keys, &values, scale);
            let wrong = (0..d).find(|&i| {
                let difference = (f64::from(found[i]) - expected[i]).abs();
                difference.is_nan() || difference > 1e-4
            });
            assert!(
                wrong.is_none(),
                "{what}: element {} of head {head} is {}, expected {}\n  support any number of \
                 heads, positions and runs; the first position need not be 0, so match weights and \
                 values by order; keep nothing from earlier calls",
                wrong.unwrap_or_default(),
                found[wrong.unwrap_or_default()],
                expected[wrong.unwrap_or_default()]
            );
        }
    }
}

/// Heads with the same keys: the scores of one are far above 0, those of another far below.
#[test]
fn task_2_attend_two_pass_heads_with_opposite_scores() {
    let (keys, values) = ([1.0, 0.99, 0.98], [3.0, 5.0, 8.0]);
    for q in [
        &[100.0, -100.0][..],
        &[-100.0, 100.0],
        &[400.0, -0.5],
        &[100.0, -100.0, 0.0],
        &[-100.0, 0.0, 100.0],
        &[0.0, 100.0, -100.0],
    ] {
        let runs = cut(Cells::F32(&keys), Cells::F32(&values), 1, &[2, 1]);
        let mut out = vec![7.0; q.len()];
        attend_two_pass(q, || runs.iter().copied(), 1, 1.0, &mut out);
        let expected: Vec<f64> =
            q.iter().map(|&q| by_definition(&[q], &keys, &values, 1.0)[0]).collect();
        let near = |(&found, expected): (&f32, &f64)| (f64::from(found) - expected).abs() <= 1e-3;
        assert!(
            out.iter().zip(&expected).all(near),
            "attend_two_pass of {} heads with queries {q:?}, keys {keys:?} and values {values:?}: \
             found {out:?}, expected {expected:?}\n  each head needs its own softmax, with its own \
             largest score (even if all are below 0) and its own sum",
            q.len()
        );
    }
}

#[test]
fn task_2_attend_sees_all_earlier_positions() {
    // All keys are equal, and only the value of position 0 is not 0.
    let mut cache = DenseCache::new(
        CacheShape { layers: 1, sequences: 1, kv_heads: 10, capacity: 1200, head_dim: 1 },
        CacheType::F32,
    );
    for position in 0..1200 {
        cache.write(0, 0, position, &[0.0; 10], &[f32::from(position == 0); 10]);
    }
    for position in [0, 1, 63, 64, 100, 1199] {
        let rows = [Row { token: 0, position, sequence: 0, logits: false }];
        let mut out = vec![7.0; 10];
        let queries = Queries { rows: &rows, q: &[1.0; 10], group: 1, head_dim: 1 };
        attend(&plan(), &cache, 0, queries, &mut out);
        let expected = 1.0 / (position as f32 + 1.0);
        assert!(
            out.iter().all(|found| (found - expected).abs() <= 1e-5 * expected),
            "attend for a row at position {position}, with equal keys, a value of 1 at position 0 \
             and 0 elsewhere, ten heads: found {out:?}, expected {expected}\n  a row sees every \
             position from 0 to its own"
        );
    }
}

#[test]
pub(super) fn task_2_attend_is_causal_within_each_sequence() {
    let case = fixtures().case("task_2_attend/two_sequences");
    let (sequences, positions) = (case.integers("sequences"), case.integers("positions"));
    let rows: Vec<Row> = sequences
        .iter()
        .zip(&positions)
        .map(|(&sequence, &position)| Row { token: 0, position, sequence, logits: false })
        .collect();
    let (keys, values) = (case.tensor("keys"), case.tensor("values"));
    let mut cache = DenseCache::new(
        CacheShape { layers: 2, sequences: 2, kv_heads: 2, capacity: 9, head_dim: 6 },
        CacheType::F32,
    );
    // The cache holds the keys and values of all rows when the first row attends, and older numbers
    // after them.
    for sequence in 0..2 {
        for position in 0..9 {
            let of = |x: &Tensor| -> Vec<f32> {
                x.view()
                    .index_axis_move(Axis(0), sequence)
                    .index_axis_move(Axis(0), position)
                    .iter()
                    .copied()
                    .collect()
            };
            cache.write(1, sequence, position, &of(&keys), &of(&values));
        }
    }
    let q: Vec<f32> = case.tensor("q").iter().copied().collect();
    let mut out = vec![7.0; q.len()];
    let queries = Queries { rows: &rows, q: &q, group: 2, head_dim: 6 };
    attend(&plan(), &cache, 1, queries, &mut out);
    let names: Vec<String> = rows
        .iter()
        .map(|row| format!("position {} of sequence {}", row.position, row.sequence))
        .collect();
    case.check_rows("output", &names, &tensor(&[rows.len(), 24], out));
}
