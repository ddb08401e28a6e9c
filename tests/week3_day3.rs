//! Week 3, day 3: a pool of pages, a cache in pages, shared pages, and preemption when pages run
//! out.
//!
//! Expected tables and contents: `python-ref/oracle/week3_day3.py`.

use std::{collections::BTreeMap, sync::Arc};

use tiny_llm::{
    week1::sampling::SamplerOptions,
    week2::{
        cache::{CacheShape, CacheType, Cells, KvCache, Run},
        kernels::vector::TILE,
        model::Model,
    },
    week3::{
        engine::{Engine, Event},
        options::EngineOptions,
        paged::PagedCache,
        pool::Page,
        request::{Request, RequestId},
        room::EngineCache,
    },
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check::{Part, assert_accepts, assert_answer, resting_on},
    fixtures::{Case, Fixtures},
};

use drawn::below;
use models::plan;

use task_1::{
    task_1_allocate_returns_longest_free_page, task_1_can_allocate_up_to_the_last_page,
    task_1_shared_page_is_freed_by_its_last_owner,
};

#[path = "parts/drawn.rs"]
mod drawn;
#[path = "week3_day3/edges.rs"]
mod edges;
#[path = "parts/models.rs"]
mod models;
#[path = "week3_day3/owners.rs"]
mod owners;
#[path = "week3_day3/task_1.rs"]
mod task_1;
#[path = "week3_day3/task_2.rs"]
mod task_2;
#[path = "week3_day3/task_3.rs"]
mod task_3;
#[path = "week3_day3/task_4.rs"]
mod task_4;

const POOL: &Part = &Part { task: "week3-day3 task 1", what: "the pool", check: check_pool };

fn check_pool() {
    task_1_allocate_returns_longest_free_page();
    task_1_shared_page_is_freed_by_its_last_owner();
    task_1_can_allocate_up_to_the_last_page();
}

/// Four layers, two heads of five numbers, and three sequences. All these numbers differ, so that
/// none can be mistaken for another.
const SHAPE: CacheShape =
    CacheShape { layers: 4, sequences: 3, kv_heads: 2, capacity: 400, head_dim: 5 };

fn cache(pages: usize) -> PagedCache {
    PagedCache::new(SHAPE, TILE, pages, CacheType::F32)
}

/// Returns a unique number for each text, layer, head, position and element `d`. Different texts
/// represent different versions of a position.
fn number(text: usize, layer: usize, head: usize, position: usize, d: usize) -> f32 {
    (((text * SHAPE.layers + layer) * SHAPE.kv_heads + head) * 512 + position) as f32
        + d as f32 * 0.125
}

/// Returns the keys of a position for all heads. The values are 0.0625 less.
fn row(text: usize, layer: usize, position: usize) -> Vec<f32> {
    (0..SHAPE.kv_heads)
        .flat_map(|head| (0..SHAPE.head_dim).map(move |d| number(text, layer, head, position, d)))
        .collect()
}

fn values(keys: &[f32]) -> Vec<f32> {
    keys.iter().map(|x| x - 0.0625).collect()
}

/// Writes `n` positions to a sequence as a model does: layer by layer. Then advances over them.
fn append(cache: &mut PagedCache, sequence: usize, text: usize, n: usize) {
    let start = cache.len(sequence);
    for layer in 0..SHAPE.layers {
        for position in start..start + n {
            let keys = row(text, layer, position);
            cache.write(layer, sequence, position, &keys, &values(&keys));
        }
    }
    for position in start..start + n {
        cache.advance(sequence, position);
    }
}

fn numbers(cells: Cells) -> Vec<f32> {
    match cells {
        Cells::F32(numbers) => numbers.to_vec(),
        Cells::F16(numbers) => numbers.iter().map(|x| x.to_f32()).collect(),
    }
}

/// Checks that a sequence holds the numbers of these texts. `texts[position]` is the text of a
/// position.
#[track_caller]
fn holds(what: &str, cache: &PagedCache, sequence: usize, texts: &[usize]) {
    assert_answer(&format!("{what}: positions"), &cache.len(sequence), &texts.len());
    for layer in 0..SHAPE.layers {
        for head in 0..SHAPE.kv_heads {
            let what = format!("{what}: sequence {sequence}, layer {layer}, head {head}");
            let runs: Vec<Run> = assert_accepts(&what, || {
                cache.runs(layer, sequence, head, 0..texts.len()).collect()
            });
            let place = |position: usize| {
                (0..SHAPE.head_dim).map(move |d| number(texts[position], layer, head, position, d))
            };
            let keys: Vec<f32> = (0..texts.len()).flat_map(place).collect();
            let found =
                |cells: fn(&Run) -> Vec<f32>| runs.iter().flat_map(cells).collect::<Vec<_>>();
            assert_answer(&format!("{what}: keys"), &found(|run| numbers(run.keys)), &keys);
            let found = found(|run| numbers(run.values));
            assert_answer(&format!("{what}: values"), &found, &values(&keys));
        }
    }
}

/// Returns the pages of each sequence, and the number of free pages.
fn pages(cache: &PagedCache) -> (Vec<Vec<usize>>, usize) {
    let table = |s| cache.table(s).iter().map(Page::index).collect();
    ((0..cache.shape().sequences).map(table).collect(), cache.pool().num_free())
}

/// Runs a script of the oracle. Compares the tables after each step, and the contents at the end.
#[track_caller]
fn check_script(name: &str) {
    let case = Fixtures::open("week3_day3").case(name);
    resting_on(&[POOL], || script(&case));
}

#[track_caller]
fn script(case: &Case) {
    let number =
        |json: &tiny_llm_harness::fixtures::Json| json.as_u64().expect("a number") as usize;
    let shape = CacheShape { layers: 1, sequences: 3, kv_heads: 1, capacity: 512, head_dim: 2 };
    let (page_len, count) = (case.count("page_len"), case.count("pages"));
    let mut cache = PagedCache::new(shape, page_len, count, CacheType::F32);
    let cells = case.tensor("cells");
    let mut rows = cells.outer_iter();
    let mut done = Vec::new();
    for step in case.value("steps").as_array().expect("a list") {
        let act = step["act"].as_str().expect("a word");
        let (a, b) = (number(&step["a"]), number(&step["b"]));
        done.push(format!("{act} {a} {b}"));
        let call = format!("{}: {count} pages of {page_len}, {}", case.name(), done.join(", "));
        assert_accepts(&call, || match act {
            "append" => {
                for row in rows.by_ref().take(b) {
                    let row: Vec<f32> = row.iter().copied().collect();
                    let position = cache.len(a);
                    cache.write(0, a, position, &row[..2], &row[2..]);
                    cache.advance(a, position);
                }
            }
            "fork" => cache.fork(a, b),
            _ => cache.truncate(a, b),
        });
        let tables = step["tables"].as_array().expect("tables").iter();
        let tables = tables.map(|t| t.as_array().expect("pages").iter().map(number).collect());
        let expected: (Vec<Vec<usize>>, usize) = (tables.collect(), number(&step["free"]));
        let what = format!("{call}\n  (pages of each sequence, free pages)\n ");
        assert_answer(&what, &pages(&cache), &expected);
    }
    for sequence in 0..3 {
        if cache.len(sequence) == 0 {
            continue;
        }
        let runs = cache.runs(0, sequence, 0, 0..cache.len(sequence));
        let rows: Vec<f32> = runs
            .flat_map(|run| {
                let (keys, values) = (numbers(run.keys), numbers(run.values));
                let pairs = keys.chunks_exact(2).zip(values.chunks_exact(2));
                pairs.flat_map(|(k, v)| [k, v].concat()).collect::<Vec<_>>()
            })
            .collect();
        let found = tensor(&[rows.len() / 4, 4], rows);
        case.check(&format!("sequence_{sequence}"), &found);
    }
}

/// Returns a model of three layers with random weights: eight query heads, two KV heads of 8.
fn model() -> Arc<Model> {
    let json = r#"{"model_type": "llama", "hidden_size": 16, "num_hidden_layers": 3,
        "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 24,
        "vocab_size": 50, "hidden_act": "silu", "max_position_embeddings": 256,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true}"#;
    Arc::new(models::random(json, 0.3))
}

/// Returns four requests for 60 sampled tokens each, with 80, 93, 70 and 65 positions in total.
fn requests() -> Vec<Request> {
    let prompt = |i: usize, n: usize| (0..n).map(|p| ((p * 7 + i * 13) % 50) as u32).collect();
    [20, 33, 10, 5]
        .into_iter()
        .enumerate()
        .map(|(i, n)| Request {
            sampling: SamplerOptions::default(),
            seed: i as u64,
            ..Request::greedy(prompt(i, n), 60)
        })
        .collect()
}

/// The results of all requests, and the counts of the engine.
#[derive(Debug, Default)]
struct Came {
    answers: BTreeMap<RequestId, Vec<u32>>,
    ended: Vec<RequestId>,
    preempted: u64,
    rows: u64,
    gaps: BTreeMap<RequestId, Gap>,
}

/// A request's longest gap between two tokens so far. A gap has the rows of the steps after the
/// first of the tokens, up to the second.
#[derive(Debug, Default)]
struct Gap {
    tokens: usize,
    last: u64,
    longest: u64,
}

/// Runs the four requests on `cache`. Checks after each step that the running requests are older
/// than the waiting ones.
#[track_caller]
fn run<C: EngineCache>(what: &str, model: &Arc<Model>, cache: C) -> (Came, Engine<C>) {
    run_with(what, model, cache, EngineOptions::default())
}

#[track_caller]
fn run_with<C: EngineCache>(
    what: &str,
    model: &Arc<Model>,
    cache: C,
    options: EngineOptions,
) -> (Came, Engine<C>) {
    let steps = if options.budget.is_some() { 2000 } else { 400 };
    let mut engine =
        Engine::new(Arc::clone(model), Arc::new(plan()), cache, options, Box::new(|_| Vec::new()));
    for request in requests() {
        engine.submit(request).expect("submit must accept this request");
    }
    let mut came = Came::default();
    for step in 0.. {
        if engine.is_idle() {
            break;
        }
        assert!(
            step < steps,
            "{what}: the engine must be idle after {steps} steps, but is not: {came:?}"
        );
        assert_accepts(&format!("{what}: step {step}"), || {
            engine.step(&mut |event| match event {
                Event::Token { id, token } => came.answers.entry(id).or_default().push(token),
                Event::Finished { id, .. } => came.ended.push(id),
            });
        });
        let rows = engine.counts().rows;
        for (&id, answer) in &came.answers {
            let gap = came.gaps.entry(id).or_insert(Gap { tokens: 1, last: rows, longest: 0 });
            if answer.len() > gap.tokens {
                gap.longest = gap.longest.max(rows - gap.last);
                (gap.tokens, gap.last) = (answer.len(), rows);
            }
        }
        let left: Vec<u64> = (0..4).filter(|id| !came.ended.contains(id)).collect();
        let runs: Vec<u64> = engine.running().iter().map(|sequence| sequence.id).collect();
        assert!(
            left.starts_with(&runs),
            "{what}: after step {step}, requests {runs:?} are running, and {left:?} are not \
             finished. Preempt the youngest request, and put it at the front of the waiting queue"
        );
    }
    (came.preempted, came.rows) = (engine.counts().preempted, engine.counts().rows);
    // Every slot and page can be used again.
    for request in &requests()[1..] {
        let (prompt, max_new_tokens) = (request.prompt[..5].to_vec(), 2);
        engine
            .submit(Request { prompt, max_new_tokens, ..request.clone() })
            .expect("submit must accept this request");
    }
    assert_accepts(&format!("{what}: then three short requests"), || engine.step(&mut |_| {}));
    assert_eq!(
        engine.running().len(),
        3,
        "{what}: then three short requests: number of running requests"
    );
    (0..20).for_each(|_| engine.step(&mut |_| {}));
    (came, engine)
}

#[cfg(feature = "fresh")]
#[path = "fresh/week3_day3.rs"]
mod fresh;
