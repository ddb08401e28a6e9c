//! Week 2, day 1: the KV cache, attention of one row, the model over rows, each position once.
//!
//! Expected values: `python-ref/oracle/week2_day1.py`.

use std::{cell::RefCell, collections::HashSet, ops::ControlFlow, path::Path, sync::Arc};

use ndarray::Axis;
use tiny_llm::{
    week1::{
        generate::{FinishReason, Limits, argmax, next_token_logits},
        weights::load_model,
    },
    week2::{
        attention::{attend, attend_two_pass},
        cache::{CacheShape, CacheType, Cells, DenseCache, KvCache, Run},
        generate::Session,
        kernels::Rung,
        load::{self, Rope},
        matrix::Matrix,
        model::{Model, Workspace},
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::RopeLayout,
        rows::{Queries, Row},
    },
};
use tiny_llm_formats::{Tensor, config::ModelConfig, tensor::tensor};
use tiny_llm_harness::{
    check::{self, Part, resting_on},
    fixtures::{Case, Fixtures, random},
};

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day1")
}

/// Plain kernels, one thread, day 1's attention: nothing of a later day.
fn plan() -> Plan {
    Plan { kernels: Rung::Naive.into(), attention: AttentionKind::TwoPass, team: Team::new(1) }
}

/// Compares as [`Case::check`] does, with a line on what was run.
#[track_caller]
fn check(case: &Case, output: &str, found: &Tensor, how: &str) {
    case.check_noting(output, found, &format!("\n  run as   {how}"));
}

// Task 1

/// Sizes of the cache in the case `every_place`.
const SHAPE: CacheShape =
    CacheShape { layers: 2, sequences: 3, kv_heads: 2, capacity: 7, head_dim: 4 };

fn numbers(cells: Cells) -> Vec<f32> {
    match cells {
        Cells::F32(numbers) => numbers.to_vec(),
        Cells::F16(numbers) => numbers.iter().map(|x| x.to_f32()).collect(),
    }
}

/// A cache with the first five positions of the case, written as a model writes them: position by
/// position, and in each all layers.
fn filled(case: &Case, cache_type: CacheType) -> DenseCache {
    let (keys, values) = (case.tensor("keys"), case.tensor("values"));
    let row = |x: &Tensor, layer: usize, sequence: usize, position: usize| -> Vec<f32> {
        let place = x
            .view()
            .index_axis_move(Axis(0), layer)
            .index_axis_move(Axis(0), sequence)
            .index_axis_move(Axis(0), position);
        place.iter().copied().collect()
    };
    let mut cache = DenseCache::new(SHAPE, cache_type);
    for position in 0..5 {
        for layer in 0..SHAPE.layers {
            for sequence in 0..SHAPE.sequences {
                let (keys, values) = (
                    row(&keys, layer, sequence, position),
                    row(&values, layer, sequence, position),
                );
                cache.write(layer, sequence, position, &keys, &values);
            }
        }
    }
    cache
}

/// All runs of five positions, `[layers, sequences, H, 5, D]`: keys, and values.
fn read(cache: &DenseCache) -> (Tensor, Tensor) {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for layer in 0..SHAPE.layers {
        for sequence in 0..SHAPE.sequences {
            for head in 0..SHAPE.kv_heads {
                let run = cache.run(layer, sequence, head, 0..5);
                keys.extend(numbers(run.keys));
                values.extend(numbers(run.values));
            }
        }
    }
    let shape = [SHAPE.layers, SHAPE.sequences, SHAPE.kv_heads, 5, SHAPE.head_dim];
    let places = shape.iter().product::<usize>();
    assert_eq!(
        (keys.len(), values.len()),
        (places, places),
        "numbers in all runs of five positions, keys and values"
    );
    (tensor(&shape, keys), tensor(&shape, values))
}

#[test]
fn task_1_every_place_f32() {
    check_every_place(CacheType::F32, "f32");
}

#[test]
fn task_1_every_place_f16() {
    check_every_place(CacheType::F16, "f16");
}

fn check_every_place(cache_type: CacheType, name: &str) {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_cache/every_place");
    let (keys, values) = read(&filled(&case, cache_type));
    // As one answer: what stands among the keys says little without what stands among the values.
    let axes = "\n  axes     keys or values, layer, sequence, head, position, number";
    let both = |keys: &Tensor, values: &Tensor| {
        ndarray::stack(Axis(0), &[keys.view(), values.view()]).expect("of one shape")
    };
    let expected =
        both(&case.tensor(&format!("keys_{name}")), &case.tensor(&format!("values_{name}")));
    let what = format!("{}/keys and values in {name}", case.name());
    check::assert_close_noting(
        &what,
        &both(&keys, &values),
        &expected,
        case.tolerance(&format!("keys_{name}")),
        axes,
    );
}

#[test]
fn task_1_f16_takes_the_nearest() {
    check_f16("f16");
}

#[test]
fn task_1_f16_large_and_infinite() {
    check_f16("f16_large");
}

#[test]
fn task_1_f16_tiny() {
    check_f16("f16_tiny");
}

fn check_f16(name: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_cache/{name}"));
    let x = case.tensor("x");
    let row: Vec<f32> = x.iter().copied().collect();
    let shape =
        CacheShape { layers: 1, sequences: 1, kv_heads: 1, capacity: 2, head_dim: row.len() };
    let mut cache = DenseCache::new(shape, CacheType::F16);
    cache.write(0, 0, 0, &row, &row);
    let run = cache.run(0, 0, 0, 0..1);
    assert!(matches!(run.keys, Cells::F16(_)), "a cache of f16 hands out f16");
    case.check("rounded", &tensor(x.shape(), numbers(run.keys)));
}

#[test]
fn task_1_a_run_has_the_positions_that_were_asked_for() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_cache/every_place");
    let cache = filled(&case, CacheType::F32);
    for positions in [0..0, 0..1, 0..3, 0..7, 1..3, 2..5, 4..5, 3..3] {
        let run = cache.run(1, 2, 1, positions.clone());
        let found = (run.start, run.len, numbers(run.keys).len(), numbers(run.values).len());
        let (start, len) = (positions.start, positions.len());
        let expected = (start, len, 4 * len, 4 * len);
        assert_eq!(
            found, expected,
            "a run of positions {positions:?}, head size 4: its start, its len, how many numbers \
             in keys, how many in values"
        );
    }
    // What lies in a run that begins later is what lies there in one from the beginning.
    let whole = cache.run(1, 2, 1, 0..5);
    let part = cache.run(1, 2, 1, 2..5);
    for (name, whole, part) in
        [("keys", whole.keys, part.keys), ("values", whole.values, part.values)]
    {
        let expected = numbers(whole)[2 * 4..].to_vec();
        let what = format!("{name} of positions 2 to 4 of a head");
        check::assert_close(
            &what,
            &tensor(&[3, 4], numbers(part)),
            &tensor(&[3, 4], expected),
            0.0,
        );
    }
}

#[test]
fn task_1_a_position_can_be_written_again() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_cache/every_place");
    let mut cache = filled(&case, CacheType::F32);
    let (keys, values) = read(&cache);
    for layer in 0..SHAPE.layers {
        for sequence in 0..SHAPE.sequences {
            cache.write(layer, sequence, 2, &[9.0; 8], &[8.0; 8]);
        }
    }
    let again = |mut x: Tensor, number: f32| {
        x.index_axis_mut(Axis(3), 2).fill(number);
        x
    };
    let (found_keys, found_values) = read(&cache);
    let property = "position 2 was written a second time, with other numbers, and nothing else was";
    check::assert_agrees(
        "keys after position 2 was written again",
        &found_keys,
        &again(keys, 9.0),
        0.0,
        property,
    );
    check::assert_agrees(
        "values after position 2 was written again",
        &found_values,
        &again(values, 8.0),
        0.0,
        property,
    );
}

#[test]
fn task_1_places_whatever_the_size() {
    let shape = CacheShape { layers: 3, sequences: 2, kv_heads: 12, capacity: 200, head_dim: 2 };
    let mut cache = DenseCache::new(shape, CacheType::F32);
    let places = || {
        (0..3).flat_map(|layer| {
            (0..2).flat_map(move |sequence| (0..200).map(move |p| (layer, sequence, p)))
        })
    };
    let number = |(layer, sequence, p): (usize, usize, usize), i: usize| {
        (((layer * 2 + sequence) * 200 + p) * 24 + i) as f32
    };
    for place in places() {
        let keys: Vec<f32> = (0..24).map(|i| number(place, i)).collect();
        let values: Vec<f32> = keys.iter().map(|x| -x).collect();
        cache.write(place.0, place.1, place.2, &keys, &values);
    }
    for place in places() {
        for head in 0..12 {
            let run = cache.run(place.0, place.1, head, place.2..place.2 + 1);
            let expected = [0, 1].map(|i| number(place, head * 2 + i));
            let (keys, values) = (numbers(run.keys), numbers(run.values));
            assert!(
                keys == expected && values == expected.map(|x| -x),
                "layer {}, sequence {}, position {}, head {head} of {shape:?}: found keys {keys:?} and values {values:?}, expected {expected:?} and those negative",
                place.0,
                place.1,
                place.2
            );
        }
    }
}

#[test]
fn task_1_a_place_that_does_not_exist_is_refused() {
    let row = [1.0; 8];
    let mut cache = DenseCache::new(SHAPE, CacheType::F32);
    check::assert_accepts("write at position 6 of a capacity of 7", || {
        cache.write(0, 0, 6, &row, &row);
    });
    check::assert_panics("write at position 7 of a capacity of 7", || {
        DenseCache::new(SHAPE, CacheType::F32).write(0, 0, 7, &row, &row);
    });
    check::assert_panics("write to sequence 3 of 3", || {
        DenseCache::new(SHAPE, CacheType::F32).write(0, 3, 0, &row, &row);
    });
    check::assert_panics("write to layer 2 of 2", || {
        DenseCache::new(SHAPE, CacheType::F32).write(2, 0, 0, &row, &row);
    });
    check::assert_accepts("a run of positions 5 and 6 of a capacity of 7", || {
        cache.run(0, 0, 0, 5..7).len
    });
    check::assert_panics("a run of 8 positions of a capacity of 7", || {
        cache.run(0, 0, 0, 0..8).len
    });
    check::assert_panics("a run of positions 6 and 7 of a capacity of 7", || {
        cache.run(0, 0, 0, 6..8).len
    });
    check::assert_panics("a run of head 2 of 2", || cache.run(0, 0, 2, 0..1).len);
}

// Task 2

/// Keys and values as a cache may hand them out: cut into runs of these lengths.
fn cut<'a>(keys: Cells<'a>, values: Cells<'a>, d: usize, lengths: &[usize]) -> Vec<Run<'a>> {
    let mut start = 0;
    let part = |cells: Cells<'a>, start: usize, len: usize| match cells {
        Cells::F32(x) => Cells::F32(&x[start * d..(start + len) * d]),
        Cells::F16(x) => Cells::F16(&x[start * d..(start + len) * d]),
    };
    let run = |&len: &usize| {
        start += len;
        let at = start - len;
        Run { start: at, len, keys: part(keys, at, len), values: part(values, at, len) }
    };
    lengths.iter().map(run).collect()
}

/// `attend_two_pass` on a case, over runs of these lengths. What stands in `out` beforehand is no
/// part of the answer.
fn attention_over(case: &Case, keys: Cells, values: Cells, lengths: &[usize]) -> Tensor {
    let q = case.tensor("q");
    let d = q.shape()[1];
    let runs = cut(keys, values, d, lengths);
    let mut out = vec![7.0; q.len()];
    let q: Vec<f32> = q.iter().copied().collect();
    attend_two_pass(&q, || runs.iter().copied(), d, case.scalar("scale") as f32, &mut out);
    tensor(&[out.len() / d, d], out)
}

fn check_attention(name: &str, lengths: &[usize]) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_2_attention/{name}"));
    let flat = |name: &str| -> Vec<f32> { case.tensor(name).iter().copied().collect() };
    let (keys, values) = (flat("keys"), flat("values"));
    let found = attention_over(&case, Cells::F32(&keys), Cells::F32(&values), lengths);
    check(&case, "output", &found, &format!("runs of {lengths:?} positions"));
}

#[test]
fn task_2_one_run() {
    check_attention("f32", &[9]);
}

#[test]
fn task_2_several_runs() {
    for lengths in [&[3, 1, 5][..], &[8, 1], &[1; 9]] {
        check_attention("f32", lengths);
    }
}

#[test]
fn task_2_large_scores() {
    check_attention("sharp", &[7]);
}

#[test]
fn task_2_scores_far_below_0() {
    check_attention("far_below_0", &[7]);
}

#[test]
fn task_2_one_position() {
    check_attention("one_position", &[1]);
}

#[test]
fn task_2_f16() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_attention/f16");
    // Through the cache, which is task 1's: it rounds, and hands out what it has rounded.
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
    check(&case, "output", &found, "runs of [4, 2] positions, f16");
}

/// Scores fall by 40 over 300 positions, in ten heads, so that the least weight is e^−40.
#[test]
fn task_2_whatever_the_size() {
    let (heads, positions) = (10, 300);
    let step = 0.125;
    let keys: Vec<f32> = (0..positions).map(|p| -step * p as f32).collect();
    // Each value is the inverse of its weight, so every position counts alike in the sum.
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
                "ten heads over 300 positions in {} runs, whose weights fall to e^−37 and whose values rise as much: head {head} found {found}, expected {expected:.5}\n  a weight may be small and still counts, and there is no limit to positions, runs or heads",
                runs.len()
            );
        }
    }
}

#[test]
fn task_2_rows_see_positions_however_far_back() {
    // All keys are alike, and of the values only that of position 0 is not 0.
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
            "a row at position {position}, all keys alike, the value of position 0 is 1 in each of ten heads, all others 0: found {out:?}, expected {expected}\n  a row sees every position from 0 to its own"
        );
    }
}

#[test]
fn task_2_rows_see_their_own_past() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_attend/two_sequences");
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
    // The keys and values of all rows are there when the first row attends, and older numbers
    // behind them.
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

// Task 3

const CACHE: &Part = &Part { task: "week2-day1 task 1", what: "the cache", check: check_cache };
const ATTENTION: &Part =
    &Part { task: "week2-day1 task 2", what: "attention of one row", check: check_attentions };
const MODEL: &Part =
    &Part { task: "week2-day1 task 3", what: "the model over rows", check: check_models };

fn check_cache() {
    check_every_place(CacheType::F32, "f32");
    check_every_place(CacheType::F16, "f16");
}

fn check_attentions() {
    check_attention("f32", &[9]);
    check_attention("f32", &[3, 1, 5]);
    check_attention("far_below_0", &[7]);
    task_2_rows_see_their_own_past();
}

fn check_models() {
    ["llama", "qwen2", "qwen3"].into_iter().for_each(check_whole);
    task_3_one_token_at_a_time();
}

/// The whole model of a case, its weights as f32.
fn model(case: &Case, layout: RopeLayout) -> Model {
    let config =
        ModelConfig::from_json(&case.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    let rope = Rope { layout, factors: Vec::new() };
    load::build(config, &rope, usize::MAX, &mut |name, shape| {
        let weight = case.tensor(name);
        assert_eq!(weight.shape(), shape, "{name}");
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        let values: Vec<f32> = weight.iter().copied().collect();
        Ok(Matrix::from_f32(rows, cols, &values))
    })
    .expect("all weights are there")
}

fn cache_of(model: &Model, sequences: usize, capacity: usize, cache_type: CacheType) -> DenseCache {
    let c = &model.config;
    let shape = CacheShape {
        layers: c.n_layers,
        sequences,
        kv_heads: c.n_kv_heads,
        capacity,
        head_dim: c.head_dim,
    };
    let mut cache = DenseCache::new(shape, cache_type);
    // What an older text has left there; its length is 0, so nobody may look at it.
    for (layer, sequence) in
        (0..shape.layers).flat_map(|layer| (0..sequences).map(move |sequence| (layer, sequence)))
    {
        for position in 0..capacity {
            let old = random(position as u64, &[2, shape.kv_heads * shape.head_dim]);
            let (keys, values) =
                old.as_slice().expect("one piece").split_at(shape.kv_heads * shape.head_dim);
            cache.write(layer, sequence, position, keys, values);
        }
    }
    cache
}

fn tokens(case: &Case, name: &str) -> Vec<u32> {
    case.integers(name).iter().map(|&token| token as u32).collect()
}

/// One sequence in chunks of these lengths; the logits of every row, `[L, V]`.
fn forward_in(model: &Model, tokens: &[u32], chunks: &[usize], cache_type: CacheType) -> Tensor {
    let (plan, mut work) = (plan(), Workspace::default());
    let mut cache = cache_of(model, 1, tokens.len(), cache_type);
    let (mut logits, mut start) = (Vec::new(), 0);
    for &len in chunks {
        let row = |i: usize| Row { token: tokens[i], position: i, sequence: 0, logits: true };
        let rows: Vec<Row> = (start..start + len).map(row).collect();
        logits.extend_from_slice(model.forward(&rows, &mut cache, &plan, &mut work));
        start += len;
    }
    let width = model.config.vocab_size;
    assert_eq!(logits.len(), start * width, "logits of {start} rows, a vocabulary of {width}");
    tensor(&[start, width], logits)
}

#[test]
fn task_3_whole_prompt_llama() {
    check_whole("llama");
}

#[test]
fn task_3_whole_prompt_qwen2() {
    check_whole("qwen2");
}

#[test]
fn task_3_whole_prompt_qwen3() {
    check_whole("qwen3");
}

#[test]
fn task_3_whole_prompt_llama_with_biases() {
    check_whole("llama_with_biases");
}

fn check_whole(family: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_model/{family}"));
    resting_on(&[CACHE, ATTENTION], || {
        let model = model(&case, RopeLayout::HalfSplit);
        let found = forward_in(&model, &tokens(&case, "a"), &[8], CacheType::F32);
        let how = "one forward pass of eight rows";
        check(&case, "logits_a", &found, how);
    });
}

#[test]
fn task_3_interleaved_rope() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let found = forward_in(
        &model(&case, RopeLayout::Interleaved),
        &tokens(&case, "a"),
        &[5, 3],
        CacheType::F32,
    );
    check(
        &case,
        "logits_interleaved",
        &found,
        "chunks of [5, 3] rows, RoPE over neighbouring numbers",
    );
}

/// All ways to cut eight tokens into chunks: between each two there is a cut, or there is none.
fn splits() -> impl Iterator<Item = Vec<usize>> {
    (0..1 << 7).map(|cuts: u32| {
        let mut chunks = vec![1];
        for i in 0..7 {
            if cuts >> i & 1 == 1 {
                chunks.push(1);
            } else {
                *chunks.last_mut().expect("one at least") += 1;
            }
        }
        chunks
    })
}

#[test]
fn task_3_every_split_of_a_prompt() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/qwen3");
    let (model, tokens) = (model(&case, RopeLayout::HalfSplit), tokens(&case, "a"));
    for chunks in splits() {
        let found = forward_in(&model, &tokens, &chunks, CacheType::F32);
        check(&case, "logits_a", &found, &format!("chunks of {chunks:?} rows"));
    }
}

#[test]
fn task_3_one_token_at_a_time() {
    let fixtures = fixtures();
    for family in ["llama", "qwen2"] {
        let case = fixtures.case(&format!("task_3_model/{family}"));
        let found = forward_in(
            &model(&case, RopeLayout::HalfSplit),
            &tokens(&case, "a"),
            &[1; 8],
            CacheType::F32,
        );
        let what = format!("{}/logits_a, one row at a time", case.name());
        check::assert_close(&what, &found, &case.tensor("logits_a"), case.tolerance("logits_a"));
    }
}

#[test]
fn task_3_f16_cache_is_close() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let model = model(&case, RopeLayout::HalfSplit);
    let full = forward_in(&model, &tokens(&case, "a"), &[6, 2], CacheType::F32);
    check(&case, "logits_a", &full, "chunks of [6, 2] rows, before the same with a cache of f16");
    let found = forward_in(&model, &tokens(&case, "a"), &[6, 2], CacheType::F16);
    // f16 keeps 11 bits: keys and values are 2⁻¹¹ off at most, and what three layers make of it is
    // a small part of the logits.
    let expected = case.tensor("logits_a");
    let largest = expected.iter().fold(0f32, |m, x| m.max(x.abs()));
    let what = "logits with a cache of f16";
    if let Err(difference) = check::compare(what, &found, &expected, 0.01 * largest) {
        panic!("{difference}\n  the tolerance is 1 % of the largest logit: f16 costs far less");
    }
}

/// Rows of the sequences `a` (of eight tokens, number 0 in the cache) and `b` (of six, number 2),
/// in an order that neither has for itself.
fn interleaved(a: &[u32], b: &[u32]) -> [Vec<Row>; 3] {
    let a = |position: usize| Row { token: a[position], position, sequence: 0, logits: true };
    let b = |position: usize| Row { token: b[position], position, sequence: 2, logits: true };
    [
        vec![a(0), b(0), a(1), a(2), b(1)],
        vec![b(2), a(3)],
        vec![a(4), b(3), b(4), a(5), a(6), b(5), a(7)],
    ]
}

#[test]
fn task_3_rows_of_two_sequences() {
    let fixtures = fixtures();
    for family in ["llama", "qwen3"] {
        let case = fixtures.case(&format!("task_3_model/{family}"));
        let model = model(&case, RopeLayout::HalfSplit);
        let (plan, mut work, mut cache) =
            (plan(), Workspace::default(), cache_of(&model, 3, 8, CacheType::F32));
        let width = model.config.vocab_size;
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        for rows in interleaved(&tokens(&case, "a"), &tokens(&case, "b")) {
            let logits = model.forward(&rows, &mut cache, &plan, &mut work);
            assert_eq!(
                logits.len(),
                rows.len() * width,
                "logits of {} rows, a vocabulary of {width}",
                rows.len()
            );
            for (row, logits) in rows.iter().zip(logits.chunks_exact(width)) {
                if row.sequence == 0 { &mut of_a } else { &mut of_b }.extend_from_slice(logits);
            }
        }
        let how = "rows of two sequences between one another, in three forward passes";
        for (name, logits) in [("logits_a", of_a), ("logits_b", of_b)] {
            check(&case, name, &tensor(&[logits.len() / width, width], logits), how);
        }
        let found = (cache.len(0), cache.len(1), cache.len(2), cache.computed());
        assert_eq!(
            found,
            (8, 0, 6, 14),
            "positions of sequences 0, 1 and 2 in the cache, and how many were computed"
        );
    }
}

#[test]
fn task_3_one_norm_alone() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/qwen3");
    let tokens = tokens(&case, "a");
    for of_queries in [true, false] {
        let (mut normed, mut zero) =
            (model(&case, RopeLayout::HalfSplit), model(&case, RopeLayout::HalfSplit));
        for (normed, zero) in normed.layers.iter_mut().zip(&mut zero.layers) {
            let zeros = |n: &Option<Vec<f32>>| n.as_ref().map(|norm| vec![0.0; norm.len()]);
            (zero.q_norm, zero.k_norm) = (None, None);
            let weight = if of_queries {
                (normed.q_norm, normed.k_norm) = (zeros(&normed.q_norm), None);
                &mut zero.q_proj.weight
            } else {
                (normed.q_norm, normed.k_norm) = (None, zeros(&normed.k_norm));
                &mut zero.k_proj.weight
            };
            let (rows, cols) = (weight.rows, weight.cols);
            *weight = Matrix::from_f32(rows, cols, &vec![0.0; rows * cols]);
        }
        let which = if of_queries { "q" } else { "k" };
        resting_on(&[CACHE, ATTENTION], || {
            check::assert_agrees(
                &format!(
                    "a {which}_norm alone, of zeros, compared with a {which}_proj of zeros and no norms"
                ),
                &forward_in(&normed, &tokens, &[8], CacheType::F32),
                &forward_in(&zero, &tokens, &[8], CacheType::F32),
                1e-5,
                "both make zeros; a layer may have one of the two norms",
            );
        });
    }
}

#[test]
fn task_3_a_vocabulary_of_70_000() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let small = model(&case, RopeLayout::HalfSplit);
    let mut large = model(&case, RopeLayout::HalfSplit);
    let (rows, e) = (small.config.vocab_size, small.config.hidden_size);
    let table: Vec<f32> = case.tensor("model.embed_tokens.weight").iter().copied().collect();
    // The same rows at the end of a longer table, and an output head of the same 37 rows.
    let longer = [vec![0.0; (70_000 - rows) * e], table.clone()].concat();
    large.embedding = Matrix::from_f32(70_000, e, &longer);
    large.lm_head = large.lm_head.or_else(|| Some(Matrix::from_f32(rows, e, &table)));
    let tokens = tokens(&case, "a");
    let moved: Vec<u32> = tokens.iter().map(|token| token + 70_000 - rows as u32).collect();
    resting_on(&[CACHE, ATTENTION], || {
        check::assert_agrees(
            "tokens from 69,963 on, compared with those from 0 on that have the same rows of the embedding",
            &forward_in(&large, &moved, &[8], CacheType::F32),
            &forward_in(&small, &tokens, &[8], CacheType::F32),
            0.0,
            "token t is row t of the embedding: ids have 32 bits",
        );
    });
}

/// Two hundred rows at once are what they are one by one.
#[test]
fn task_3_rows_however_many() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/qwen3");
    let mut config = case.value("config").clone();
    config["max_position_embeddings"] = 256.into();
    let model = {
        let config = ModelConfig::from_json(&config.to_string(), "the fixture's config");
        let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
        load::build(config.expect("a configuration"), &rope, usize::MAX, &mut |name, shape| {
            let weight = case.tensor(name);
            let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
            Ok(Matrix::from_f32(rows, cols, &weight.iter().copied().collect::<Vec<_>>()))
        })
        .expect("all weights are there")
    };
    let tokens: Vec<u32> = (0..200).map(|i| i * 7 % 37).collect();
    resting_on(&[CACHE, ATTENTION], || {
        check::assert_agrees(
            "logits of 200 rows in one pass, compared with one by one",
            &forward_in(&model, &tokens, &[200], CacheType::F32),
            &forward_in(&model, &tokens, &[1; 200], CacheType::F32),
            1e-4,
            "a row is given its token, its position and its sequence, whichever rows come with it",
        );
    });
}

#[test]
fn task_3_only_wanted_logits() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/qwen2");
    let model = model(&case, RopeLayout::HalfSplit);
    let (plan, mut work, mut cache) =
        (plan(), Workspace::default(), cache_of(&model, 1, 8, CacheType::F32));
    let (tokens, expected) = (tokens(&case, "a"), case.tensor("logits_a"));
    for (start, wanted) in [(0, vec![1, 3]), (4, vec![]), (6, vec![0])] {
        let len = if start == 0 { 4 } else { 2 };
        let row = |i: usize| Row {
            token: tokens[start + i],
            position: start + i,
            sequence: 0,
            logits: wanted.contains(&i),
        };
        let rows: Vec<Row> = (0..len).map(row).collect();
        let logits = model.forward(&rows, &mut cache, &plan, &mut work).to_vec();
        let width = model.config.vocab_size;
        assert_eq!(
            logits.len(),
            wanted.len() * width,
            "{len} rows, of which {} want their {width} logits",
            wanted.len()
        );
        let expected =
            expected.select(Axis(0), &wanted.iter().map(|i| start + i).collect::<Vec<_>>());
        let what = format!("{}/logits_a, rows {wanted:?} from position {start} on", case.name());
        check::assert_close(
            &what,
            &tensor(&[wanted.len(), width], logits),
            &expected,
            case.tolerance("logits_a"),
        );
    }
}

#[test]
fn task_3_rows_out_of_order_are_refused() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let model = model(&case, RopeLayout::HalfSplit);
    let row = |token: u32, position: usize, sequence: usize| Row {
        token,
        position,
        sequence,
        logits: true,
    };
    let run = |rows: &[Row]| {
        let mut cache = cache_of(&model, 2, 8, CacheType::F32);
        model.forward(
            &[row(1, 0, 0), row(2, 1, 0)],
            &mut cache,
            &plan(),
            &mut Workspace::default(),
        );
        model.forward(rows, &mut cache, &plan(), &mut Workspace::default()).len()
    };
    check::assert_accepts("the next position, and the first of another sequence", || {
        run(&[row(3, 2, 0), row(1, 0, 1), row(4, 3, 0)])
    });
    check::assert_panics("positions 0 and 1 are in the cache; position 1 again", || {
        run(&[row(3, 1, 0)])
    });
    check::assert_panics("positions 0 and 1 are in the cache; position 3", || run(&[row(3, 3, 0)]));
    check::assert_panics("positions 0 and 1 are in the cache; positions 3 and 2", || {
        run(&[row(3, 3, 0), row(3, 2, 0)])
    });
    check::assert_panics("token 37 of a vocabulary of 37", || run(&[row(37, 2, 0)]));
    check::assert_panics("sequence 2 of 2", || run(&[row(3, 0, 2)]));
}

// Task 4

fn session(case: &Case, context: usize) -> Session {
    Session::new(
        Arc::new(model(case, RopeLayout::HalfSplit)),
        Arc::new(plan()),
        context,
        CacheType::F32,
    )
}

/// The row of `logits` at a position, `[V]`.
fn at(logits: &Tensor, position: usize) -> Tensor {
    logits.index_axis(Axis(0), position).to_owned()
}

/// Feeds, and compares the logits `[V]` that come back with row `position` of an expected output.
#[track_caller]
fn feed(
    session: &mut Session,
    tokens: &[u32],
    chunk: usize,
    case: &Case,
    output: &str,
    position: usize,
    how: &str,
) {
    let found = session
        .feed(tokens, chunk)
        .unwrap_or_else(|error| panic!("{how}: feed must accept this, but says: {error}"))
        .to_vec();
    assert_eq!(
        found.len(),
        session.model.config.vocab_size,
        "{how}: how many logits come back, those of the last token alone"
    );
    let what = format!("{}/{output}, position {position}", case.name());
    let found = tensor(&[found.len()], found);
    let more = format!("\n  run as   {how}");
    let expected = at(&case.tensor(output), position);
    resting_on(&[CACHE, ATTENTION, MODEL], || {
        check::assert_close_noting(&what, &found, &expected, case.tolerance(output), &more);
    });
}

#[test]
fn task_4_chunks_of_every_size() {
    let fixtures = fixtures();
    for family in ["llama", "qwen2", "qwen3"] {
        let case = fixtures.case(&format!("task_3_model/{family}"));
        let tokens = tokens(&case, "a");
        for chunk in [64, 8, 5, 7, 6, 4, 3, 2, 1, 0] {
            let mut session = session(&case, 8);
            feed(
                &mut session,
                &tokens,
                chunk,
                &case,
                "logits_a",
                7,
                &format!("eight tokens at once, in chunks of at most {chunk}"),
            );
            let found = (session.cache().len(0), session.cache().computed());
            assert_eq!(
                found,
                (8, 8),
                "eight tokens, chunks of {chunk}: positions in the cache, and how many were \
                 computed"
            );
            let what = format!("the session's tokens after eight were fed in chunks of {chunk}");
            check::assert_answer(&what, &session.tokens().to_vec(), &tokens);
        }
    }
}

#[test]
fn task_4_every_split_of_a_prompt() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let tokens = tokens(&case, "a");
    let (model, plan) = (Arc::new(model(&case, RopeLayout::HalfSplit)), Arc::new(plan()));
    for parts in splits() {
        let (mut session, mut start) =
            (Session::new(Arc::clone(&model), Arc::clone(&plan), 8, CacheType::F32), 0);
        for len in &parts {
            let how = format!("calls with {parts:?} tokens, in chunks of at most 3");
            feed(
                &mut session,
                &tokens[start..start + len],
                3,
                &case,
                "logits_a",
                start + len - 1,
                &how,
            );
            start += len;
        }
        assert_eq!(
            session.cache().computed(),
            8,
            "eight tokens in calls of {parts:?}: how many positions were computed"
        );
    }
}

#[test]
fn task_4_after_truncation_another_text_goes_on() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let (a, b) = (tokens(&case, "a"), tokens(&case, "b"));
    let mut session = session(&case, 8);
    feed(&mut session, &a, 64, &case, "logits_a", 7, "the tokens a");
    assert_eq!(session.tokens(), a, "the session's tokens after eight were fed");
    session.keep_prefix(&b);
    assert_eq!(session.tokens(), &a[..4], "the session's tokens, of which b has four");
    assert_eq!(&a[..4], &b[..4], "the oracle's two texts begin alike");
    feed(
        &mut session,
        &b[4..],
        64,
        &case,
        "logits_b",
        5,
        "a, cut back to its first four tokens, then the rest of b",
    );
    assert_eq!(
        session.cache().computed(),
        10,
        "eight positions of a, two of b: how many were computed"
    );
}

#[test]
fn task_4_feed_refuses_and_goes_on() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/qwen3");
    let tokens = tokens(&case, "a");
    let refused = |session: &mut Session, tokens: &[u32]| {
        let call = format!(
            "feed({tokens:?}) in a vocabulary of 37 and a context of 8, which is to return an error"
        );
        match check::assert_accepts(&call, || {
            session.feed(tokens, 2).map(|_| ()).map_err(|error| error.to_string())
        }) {
            Ok(()) => panic!("{call}: it was accepted"),
            Err(error) => error,
        }
    };
    let mut session = session(&case, 8);
    let error = refused(&mut session, &[]);
    assert!(error.contains("no tokens"), "no tokens: {error:?} does not say so");
    let error = refused(&mut session, &[tokens[0], tokens[1], tokens[2], tokens[3], 37]);
    assert!(
        error.contains("37") && error.contains("36"),
        "token 37 of a vocabulary of 37: {error:?} does not name it and the last that there is"
    );
    assert_eq!(
        session.cache().len(0),
        4,
        "chunks of two, and a bad token in the third: positions in the cache"
    );
    feed(
        &mut session,
        &tokens[4..],
        64,
        &case,
        "logits_a",
        7,
        "four tokens and a refused one, then four more",
    );
    let error = refused(&mut session, &[1]);
    assert!(
        error.contains('8'),
        "a ninth token in a context of eight: {error:?} does not say how many there are"
    );
    assert_eq!(session.cache().len(0), 8, "after a refused ninth token: positions in the cache");
}

/// What came of a generation.
#[derive(Debug, PartialEq)]
struct Generated {
    tokens: Vec<u32>,
    reason: FinishReason,
    /// How many positions the session has computed.
    computed: usize,
}

fn limits(max_new_tokens: usize, context: usize) -> Limits {
    Limits { max_new_tokens, context, stop_tokens: HashSet::new() }
}

/// Generates greedily; `on_token` may end it after so many tokens. Checks what `choose` is given.
fn generate(
    case: &Case,
    session: &mut Session,
    prompt: &[u32],
    chunk: usize,
    limits: &Limits,
    end_after: usize,
) -> Generated {
    let (made, logits) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let choose = |scores: &[f32], seen: &[u32]| {
        assert_eq!(
            seen,
            [prompt, &made.borrow()].concat(),
            "`choose` is given the prompt and all new tokens"
        );
        logits.borrow_mut().push(scores.to_vec());
        argmax(scores)
    };
    let on_token = |token| {
        made.borrow_mut().push(token);
        if made.borrow().len() == end_after {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let reason = session.generate(prompt, chunk, limits, choose, on_token);
    let reason = reason.unwrap_or_else(|error| {
        panic!("generate must accept a prompt of {} tokens, but says: {error}", prompt.len())
    });
    let expected = case.tensor("logits_new");
    for (i, found) in logits.borrow().iter().enumerate() {
        let enough = expected.shape()[0];
        assert!(i < enough, "`choose` was asked for a new token after {enough}: {limits:?}");
        let what = format!("{}/logits_new, new token {i}", case.name());
        let more = format!(
            "\n  run as   a prompt of {} tokens in chunks of {chunk}; these logits choose new \
             token {i}",
            prompt.len()
        );
        check::assert_close_noting(
            &what,
            &tensor(&[found.len()], found.clone()),
            &at(&expected, i),
            case.tolerance("logits_new"),
            &more,
        );
    }
    Generated { tokens: made.into_inner(), reason, computed: session.cache().computed() }
}

fn greedy(case: &Case) -> Vec<u32> {
    let tokens = case.value("greedy").as_array().expect("a list").clone();
    tokens.iter().map(|token| token.as_u64().expect("a token") as u32).collect()
}

#[test]
fn task_4_generates_what_week_1_would() {
    let fixtures = fixtures();
    for family in ["llama", "qwen2", "qwen3"] {
        let case = fixtures.case(&format!("task_3_model/{family}"));
        for chunk in [64, 3, 1] {
            let mut session = session(&case, 64);
            let found = generate(
                &case,
                &mut session,
                &tokens(&case, "a"),
                chunk,
                &limits(6, 16),
                usize::MAX,
            );
            let expected =
                Generated { tokens: greedy(&case), reason: FinishReason::Length, computed: 8 + 5 };
            assert_eq!(
                found, expected,
                "eight tokens of prompt, six new ones; nobody asks what follows the sixth, so 13 \
                 positions are enough"
            );
        }
    }
}

#[test]
fn task_4_limits_and_stop_tokens() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let (prompt, greedy) = (tokens(&case, "a"), greedy(&case));
    let third = greedy[2];
    assert!(!greedy[..2].contains(&third), "the oracle's third token is a new one");
    let stop =
        |tokens: &[u32]| Limits { stop_tokens: tokens.iter().copied().collect(), ..limits(6, 16) };
    for (name, limits, end_after, new, reason, computed) in [
        ("no new token is allowed", limits(0, 16), usize::MAX, 0, FinishReason::Length, 0),
        ("the prompt fills the context", limits(6, 8), usize::MAX, 0, FinishReason::ContextFull, 0),
        ("both limits are reached at once", limits(0, 8), usize::MAX, 0, FinishReason::Length, 0),
        (
            "two places are left in the context",
            limits(6, 10),
            usize::MAX,
            2,
            FinishReason::ContextFull,
            9,
        ),
        (
            "the third token is a stop token",
            stop(&[third, 36]),
            usize::MAX,
            2,
            FinishReason::Stop,
            10,
        ),
        ("`on_token` breaks at the third", limits(6, 16), 3, 3, FinishReason::Interrupted, 10),
        (
            "no limit but the context, and max_new_tokens the largest usize",
            limits(usize::MAX, 10),
            usize::MAX,
            2,
            FinishReason::ContextFull,
            9,
        ),
        (
            "a context as large as a usize can be",
            limits(2, usize::MAX),
            usize::MAX,
            2,
            FinishReason::Length,
            9,
        ),
    ] {
        let found = check::assert_accepts(name, || {
            generate(&case, &mut session(&case, 64), &prompt, 64, &limits, end_after)
        });
        let expected = Generated { tokens: greedy[..new].to_vec(), reason, computed };
        assert_eq!(
            found, expected,
            "{name}: new tokens, why it ended, and how many positions were computed"
        );
    }
}

#[test]
fn task_4_without_stop_tokens_nothing_stops() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let made = RefCell::new(Vec::new());
    let on_token = |token| {
        made.borrow_mut().push(token);
        ControlFlow::Continue(())
    };
    let reason = session(&case, 16)
        .generate(&[1, 2], 64, &limits(3, 16), |_, _| 0, on_token)
        .expect("the prompt fits");
    assert_eq!(
        (made.into_inner(), reason),
        (vec![0; 3], FinishReason::Length),
        "three times token 0, and no stop tokens: new tokens, and why it ended"
    );
}

/// What `generate` hands on if `script` is chosen, and why it ends.
fn written(
    prompt: &[u32],
    script: &[u32],
    limits: &Limits,
    end_after: usize,
) -> (Vec<u32>, FinishReason) {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let (mut wants, mut found) = (script.iter(), Vec::new());
    let on_token = |token| {
        found.push(token);
        if found.len() == end_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let choose =
        |_: &[f32], _: &[u32]| *wants.next().expect("no more are chosen than the limits allow");
    let reason = session(&case, 64).generate(prompt, 64, limits, choose, on_token);
    (found, reason.expect("the prompt fits"))
}

#[test]
fn task_4_whatever_is_chosen() {
    let stop = |limit, tokens: &[u32]| Limits {
        stop_tokens: tokens.iter().copied().collect(),
        ..limits(limit, 64)
    };
    let same = [5; 50];
    /// Why, what is chosen, limits, calls before a break, new tokens, the reason.
    type Case<'a> = (&'a str, &'a [u32], Limits, usize, usize, FinishReason);
    let cases: [Case<'_>; 6] = [
        ("the first is a stop token", &[9], stop(4, &[9]), 9, 0, FinishReason::Stop),
        ("a stop token of the prompt", &[3, 2], stop(4, &[2]), 9, 1, FinishReason::Stop),
        ("fifty times the same", &same, limits(50, 64), 99, 50, FinishReason::Length),
        ("the prompt's last token again", &[2, 2], limits(2, 64), 9, 2, FinishReason::Length),
        ("a break at the last", &[3, 4], limits(2, 64), 2, 2, FinishReason::Interrupted),
        ("a break at the first", &[3], limits(2, 64), 1, 1, FinishReason::Interrupted),
    ];
    for (name, script, limits, end_after, new, reason) in cases {
        let found = written(&[1, 2], script, &limits, end_after);
        assert_eq!(
            found,
            (script[..new].to_vec(), reason),
            "{name}: what `on_token` got of the tokens {script:?} that `choose` gives, and why it ended"
        );
    }
}

#[test]
fn task_4_only_the_end_of_the_tokens_wants_logits() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let mut model = model(&case, RopeLayout::HalfSplit);
    // An output head that is a row short: whoever multiplies by it panics, for no row nobody does.
    let (rows, cols) = (model.config.vocab_size - 1, model.config.hidden_size);
    model.lm_head = Some(Matrix::from_f32(rows, cols, &vec![0.0; rows * cols]));
    let mut session = Session::new(Arc::new(model), Arc::new(plan()), 16, CacheType::F32);
    let tokens = [&tokens(&case, "a")[..6], &[37]].concat();
    let what = "feed of seven tokens in chunks of two, the last of which is not in the vocabulary: it ends before anything is asked of the output head, which the last row of the last chunk alone needs";
    let refused = check::assert_accepts(what, || session.feed(&tokens, 2).is_err());
    assert!(refused, "{what}: it was accepted");
    assert_eq!(session.cache().len(0), 6, "{what}: positions in the cache");
}

#[test]
fn task_4_a_prompt_that_does_not_fit_is_refused() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let error = |prompt: &[u32], context: usize| {
        let result = session(&case, 16).generate(
            prompt,
            64,
            &limits(4, context),
            |_, _| 0,
            |_| ControlFlow::Continue(()),
        );
        match result {
            Ok(reason) => panic!(
                "a prompt of {} tokens and a context of {context} must be refused, found \
                 {reason:?}",
                prompt.len()
            ),
            Err(error) => error.to_string(),
        }
    };
    let long = error(&[1, 2, 3, 4, 5], 4);
    assert!(
        long.contains('5') && long.contains('4'),
        "five tokens, a context of four: {long:?} does not name both"
    );
    let empty = error(&[], 4);
    assert!(empty.contains("empty"), "no tokens: {empty:?} does not say so");
}

#[test]
fn task_4_a_conversation_goes_on_in_the_cache() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/qwen2");
    let mut session = session(&case, 64);
    let prompt = tokens(&case, "a");
    let first = generate(&case, &mut session, &prompt, 64, &limits(4, 16), usize::MAX);
    assert_eq!(
        first,
        Generated {
            tokens: greedy(&case)[..4].to_vec(),
            reason: FinishReason::Length,
            computed: 11
        },
        "four new tokens"
    );
    // The next prompt is all that was said. Its first 11 tokens are in the cache; the twelfth was
    // chosen and never fed.
    let said = [prompt, first.tokens].concat();
    let mut logits = Vec::new();
    let choose = |scores: &[f32], _: &[u32]| {
        logits = scores.to_vec();
        argmax(scores)
    };
    let reason = session
        .generate(&said, 64, &limits(1, 16), choose, |_| ControlFlow::Continue(()))
        .expect("the prompt fits");
    assert_eq!(reason, FinishReason::Length, "one new token");
    assert_eq!(
        session.cache().computed(),
        12,
        "of the second prompt's 12 tokens 11 are in the cache: how many positions were computed in \
         all"
    );
    let what = format!("{}/logits_new, new token 4", case.name());
    check::assert_close(
        &what,
        &tensor(&[logits.len()], logits),
        &at(&case.tensor("logits_new"), 4),
        case.tolerance("logits_new"),
    );
}

#[test]
fn task_4_another_prompt_keeps_what_it_shares() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_model/llama");
    let (a, b) = (tokens(&case, "a"), tokens(&case, "b"));
    let mut session = session(&case, 16);
    feed(&mut session, &a[..5], 64, &case, "logits_a", 4, "five tokens of a");
    let mut logits = Vec::new();
    let choose = |scores: &[f32], _: &[u32]| {
        logits = scores.to_vec();
        argmax(scores)
    };
    // The texts have four tokens in common; the fifth that is in the cache is another one.
    session
        .generate(&b, 64, &limits(1, 16), choose, |_| ControlFlow::Continue(()))
        .expect("the prompt fits");
    let found = (session.tokens().to_vec(), session.cache().computed());
    assert_eq!(
        found,
        (b, 5 + 2),
        "b in a session of five tokens, four of which are b's: its tokens then, and positions \
         computed"
    );
    let what = format!("{}/logits_b, position 5, asked for by `generate`", case.name());
    let more = "\n  run as   the prompt b in a session that holds five tokens of a, four of which \
                b begins with";
    let expected = at(&case.tensor("logits_b"), 5);
    let found = tensor(&[logits.len()], logits);
    check::assert_close_noting(&what, &found, &expected, case.tolerance("logits_b"), more);
}

/// The same weights and tokens through week 1's model, which computes everything anew.
#[test]
fn task_4_the_embedded_model_says_what_week_1_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story");
    let model = Arc::new(load::load_folder(&folder, 16).expect("the embedded model"));
    let tokens: Vec<u32> = random(2110, &[4]).iter().map(|x| (x.abs() * 700.0) as u32).collect();
    let mut session = Session::new(model, Arc::new(plan()), 16, CacheType::F32);
    session.feed(&tokens[..1], 64).expect("one token");
    let found = session.feed(&tokens[1..], 64).expect("three more").to_vec();
    let expected = next_token_logits(&load_model(&folder).expect("the embedded model"), &tokens);
    let tensors = [found, expected].map(|logits| tensor(&[logits.len()], logits));
    let property =
        "week 1's model and yours have the same weights and were given the same four tokens";
    check::assert_agrees("logits of the embedded model", &tensors[0], &tensors[1], 1e-3, property);
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day1.rs"]
mod fresh;
