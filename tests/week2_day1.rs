//! Week 2, day 1: the KV cache, attention of one row, the model over rows, each position once.
//!
//! Expected values: `python-ref/oracle/week2_day1.py`.

use ndarray::Axis;
use tiny_llm::week2::{
    attention::attend_two_pass,
    cache::{CacheShape, CacheType, Cells, DenseCache, KvCache, Run},
    kernels::Rung,
    load::{self, Rope},
    matrix::Matrix,
    model::{Model, Workspace},
    parallel::Team,
    plan::{AttentionKind, Plan},
    rope::RopeLayout,
    rows::Row,
};
use tiny_llm_formats::{Tensor, config::ModelConfig, tensor::tensor};
use tiny_llm_harness::{
    check::{self, Part, resting_on},
    fixtures::{Case, Fixtures, random},
};

use task_2::task_2_attend_is_causal_within_each_sequence;

#[path = "parts/attention.rs"]
mod by_definition;
#[path = "week2_day1/task_1.rs"]
mod task_1;
#[path = "week2_day1/task_2.rs"]
mod task_2;
#[path = "week2_day1/task_3.rs"]
mod task_3;
#[path = "week2_day1/task_3_edges.rs"]
mod task_3_edges;
#[path = "week2_day1/task_3_last_act.rs"]
mod task_3_last_act;
#[path = "week2_day1/task_4.rs"]
mod task_4;
#[path = "week2_day1/task_4_calls.rs"]
mod task_4_calls;

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day1")
}

/// Returns a plan with plain kernels, one thread and day 1's attention. It needs no later day.
fn plan() -> Plan {
    Plan { kernels: Rung::Naive.into(), attention: AttentionKind::TwoPass, team: Team::new(1) }
}

/// Works like [`Case::check`]. On failure, also prints `how` the model was run.
#[track_caller]
fn check_run(case: &Case, output: &str, found: &Tensor, how: &str) {
    case.check_noting(output, found, &format!("\n  run as   {how}"));
}

/// Sizes of the cache in the case `every_place`.
const SHAPE: CacheShape =
    CacheShape { layers: 2, sequences: 3, kv_heads: 2, capacity: 7, head_dim: 4 };

fn numbers(cells: Cells) -> Vec<f32> {
    match cells {
        Cells::F32(numbers) => numbers.to_vec(),
        Cells::F16(numbers) => numbers.iter().map(|x| x.to_f32()).collect(),
    }
}

/// Returns a cache with the first five positions of the case. They are written in the order in
/// which a model writes: position by position, all layers of each.
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

/// Returns the keys and values of positions 0 to 4, each `[layers, sequences, H, 5, D]`.
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
        "runs of positions 0 to 4 of all layers, sequences and heads: total number of elements in \
         keys and in values"
    );
    (tensor(&shape, keys), tensor(&shape, values))
}

fn check_every_place(cache_type: CacheType, name: &str) {
    let case = fixtures().case("task_1_cache/every_place");
    let (keys, values) = read(&filled(&case, cache_type));
    // Keys and values are one answer, because many mistakes show only in both together.
    let axes = "\n  axes     keys or values, layer, sequence, head, position, element";
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

/// Cuts keys and values into runs of `lengths` positions, as a cache may return them.
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

/// Runs `attend_two_pass` on a case, over runs of `lengths` positions. `out` is filled with 7
/// before the call.
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
    let case = fixtures().case(&format!("task_2_attention/{name}"));
    let flat = |name: &str| -> Vec<f32> { case.tensor(name).iter().copied().collect() };
    let (keys, values) = (flat("keys"), flat("values"));
    let found = attention_over(&case, Cells::F32(&keys), Cells::F32(&values), lengths);
    check_run(&case, "output", &found, &format!("runs of {lengths:?} positions"));
}

const CACHE: &Part = &Part { task: "week2-day1 task 1", what: "the cache", check: check_cache };

const ATTENTION: &Part =
    &Part { task: "week2-day1 task 2", what: "attention of one row", check: check_attentions };

fn check_cache() {
    check_every_place(CacheType::F32, "f32");
    check_every_place(CacheType::F16, "f16");
}

fn check_attentions() {
    check_attention("f32", &[9]);
    check_attention("f32", &[3, 1, 5]);
    check_attention("far_below_0", &[7]);
    task_2_attend_is_causal_within_each_sequence();
}

/// Returns the model of a case, with f32 weights.
fn model(case: &Case, layout: RopeLayout) -> Model {
    let config =
        ModelConfig::from_json(&case.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    let rope = Rope { layout, factors: Vec::new() };
    load::build(config, &rope, usize::MAX, &mut |name, shape| {
        let weight = case.tensor(name);
        assert_eq!(
            weight.shape(),
            shape,
            "shape of {name}: in the file (left), as requested (right)"
        );
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        let values: Vec<f32> = weight.iter().copied().collect();
        Ok(Matrix::from_f32(rows, cols, &values))
    })
    .expect("build must find every weight")
}

fn cache_of(model: &Model, sequences: usize, capacity: usize, cache_type: CacheType) -> DenseCache {
    let shape = CacheShape::of(&model.config, sequences, capacity);
    let mut cache = DenseCache::new(shape, cache_type);
    // Leftovers of an older text. The cache's length is 0, so nothing may read them.
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

/// Runs one sequence in chunks of `chunks` rows. Returns the logits of every row, `[L, V]`.
fn forward_in(model: &Model, tokens: &[u32], chunks: &[usize], cache_type: CacheType) -> Tensor {
    forward_with(&mut Workspace::default(), model, tokens, chunks, cache_type)
}

/// Works like [`forward_in`], with a workspace that other passes may have used.
fn forward_with(
    work: &mut Workspace,
    model: &Model,
    tokens: &[u32],
    chunks: &[usize],
    cache_type: CacheType,
) -> Tensor {
    let plan = plan();
    let mut cache = cache_of(model, 1, tokens.len(), cache_type);
    let (mut logits, mut start) = (Vec::new(), 0);
    for &len in chunks {
        let row = |i: usize| Row { token: tokens[i], position: i, sequence: 0, logits: true };
        let rows: Vec<Row> = (start..start + len).map(row).collect();
        logits.extend_from_slice(model.forward(&rows, &mut cache, &plan, work));
        start += len;
    }
    let width = model.config.vocab_size;
    assert_eq!(
        logits.len(),
        start * width,
        "number of logits for {start} rows and a vocabulary of {width}"
    );
    tensor(&[start, width], logits)
}

fn check_whole(family: &str) {
    let case = fixtures().case(&format!("task_3_model/{family}"));
    resting_on(&[CACHE, ATTENTION], || {
        let model = model(&case, RopeLayout::HalfSplit);
        let found = forward_in(&model, &case.ids("a"), &[8], CacheType::F32);
        let how = "one forward pass of eight rows";
        check_run(&case, "logits_a", &found, how);
    });
}

/// Returns all ways to cut eight tokens into chunks.
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

/// Returns the logits `[V]` of a position, which is a row of `logits`.
fn at(logits: &Tensor, position: usize) -> Tensor {
    logits.index_axis(Axis(0), position).to_owned()
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day1.rs"]
mod fresh;
