//! Week 3, day 4: a run for many readers, pages that are read once, and a long context in parts.
//!
//! Expected values: `python-ref/oracle/week3_day4.py`.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use half::f16;
use tiny_llm::{
    week2::{
        cache::{CacheShape, Cells, KvCache, Run},
        kernels::Rung,
        model::{Model, Workspace},
        parallel::Team,
        plan::{AttentionKind, Plan},
        rows::Row,
        streaming::OnlineSoftmax,
    },
    week3::reader::{Desk, Pages, Reader, arrange, read_pages, read_run},
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    allocations::CountingAllocator,
    check::{Part, assert_answer, resting_on},
    fixtures::{Case, Fixtures, random},
};

#[path = "week3_day4/company.rs"]
mod company;
#[path = "parts/drawn.rs"]
mod drawn;
#[path = "parts/models.rs"]
mod models;
#[path = "week3_day4/task_1.rs"]
mod task_1;
#[path = "week3_day4/task_2.rs"]
mod task_2;
#[path = "week3_day4/task_3.rs"]
mod task_3;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn values(x: &Tensor) -> Vec<f32> {
    x.iter().copied().collect()
}

/// The states of all readers: softmaxes `[R, G]` and sums `[R, G, D]`.
struct Held {
    softmax: Vec<OnlineSoftmax>,
    sums: Vec<f32>,
}

impl Held {
    fn new(queries: usize, dim: usize) -> Self {
        Self { softmax: vec![OnlineSoftmax::default(); queries], sums: vec![0.0; queries * dim] }
    }

    /// Returns a reader for each of the ranges `seen`, with `heads` heads each: `q [R, G, D]`.
    fn readers<'a>(
        &'a mut self,
        q: &'a [f32],
        seen: &[(usize, Range<usize>)],
        heads: usize,
        dim: usize,
    ) -> Vec<Reader<'a>> {
        let theirs = self.softmax.chunks_exact_mut(heads);
        let theirs = theirs.zip(self.sums.chunks_exact_mut(heads * dim));
        let all = seen.iter().zip(q.chunks_exact(heads * dim)).zip(theirs);
        all.map(|(((sequence, visible), q), (softmax, sums))| Reader {
            sequence: *sequence,
            visible: visible.clone(),
            q,
            softmax,
            sums,
        })
        .collect()
    }

    /// Returns the sums divided by their totals, `[R·G, D]`.
    fn output(&self) -> Tensor {
        let dim = self.sums.len() / self.softmax.len();
        let rows = self.sums.chunks_exact(dim).zip(&self.softmax);
        let out = rows.flat_map(|(row, state)| row.iter().map(|x| x / state.total));
        tensor(&[self.softmax.len(), dim], out.collect())
    }
}

/// Returns keys or values as f32 and as f16.
fn both(x: &[f32]) -> (Vec<f32>, Vec<f16>) {
    (x.to_vec(), x.iter().map(|&x| f16::from_f32(x)).collect())
}

#[track_caller]
fn check_read_run(name: &str) {
    let case = Fixtures::open("week3_day4").case(&format!("task_1_read_run/{name}"));
    let (q, scale) = (case.numbers("q"), case.scalar("scale") as f32);
    let dim = case.tensor("q").shape()[1];
    let (keys, numbers) = (both(&case.numbers("keys")), both(&case.numbers("values")));
    let half = case.read("half");
    let heads = case.count("heads");
    let seen: Vec<_> = case
        .read::<Vec<Vec<usize>>>("visible")
        .iter()
        .map(|range| (0, range[0]..range[1]))
        .collect();
    let mut held = Held::new(seen.len() * heads, dim);
    let (mut start, mut desk) = (0, Box::new(Desk::default()));
    for len in case.read::<Vec<usize>>("runs") {
        let range = start * dim..(start + len) * dim;
        let run = Run {
            start,
            len,
            keys: if half {
                Cells::F16(&keys.1[range.clone()])
            } else {
                Cells::F32(&keys.0[range.clone()])
            },
            values: if half {
                Cells::F16(&numbers.1[range.clone()])
            } else {
                Cells::F32(&numbers.0[range])
            },
        };
        let mut readers = held.readers(&q, &seen, heads, dim);
        read_run(&mut readers, run, dim, scale, &mut desk);
        start += len;
    }
    let rows: Vec<String> = seen
        .iter()
        .flat_map(|(_, seen)| {
            (0..heads).map(move |g| format!("head {g} of the row that sees {seen:?}"))
        })
        .collect();
    case.check_rows("output", &rows, &held.output());
}

const READ: &Part = &Part { task: "week3-day4 task 1", what: "read_run", check: check_read };

fn check_read() {
    ["one_row", "three_rows", "many_rows", "windows", "rising"]
        .into_iter()
        .for_each(check_read_run);
}

/// A cache with given page tables. It counts how many pages and positions are read.
struct Tables {
    shape: CacheShape,
    page_len: usize,
    /// `[P, H, page_len, D]`, like `values`.
    keys: Vec<f32>,
    values: Vec<f32>,
    tables: Vec<Vec<usize>>,
    pages_read: AtomicUsize,
    positions_read: AtomicUsize,
}

impl Tables {
    fn of(case: &Case) -> Self {
        let tables = case.read::<Vec<Vec<usize>>>("tables");
        let [_, kv_heads, page_len, head_dim] = case.tensor("keys").shape().try_into().expect("4");
        let capacity = page_len * tables.iter().map(Vec::len).max().unwrap_or(0);
        let sequences = tables.len();
        Self {
            shape: CacheShape { layers: 1, sequences, kv_heads, capacity, head_dim },
            page_len,
            keys: case.numbers("keys"),
            values: case.numbers("values"),
            tables,
            pages_read: AtomicUsize::new(0),
            positions_read: AtomicUsize::new(0),
        }
    }

    /// Returns the pages and positions that were read since the last call, summed over all heads.
    fn reads(&self) -> (usize, usize) {
        (self.pages_read.swap(0, Relaxed), self.positions_read.swap(0, Relaxed))
    }
}

impl KvCache for Tables {
    fn shape(&self) -> CacheShape {
        self.shape
    }

    fn len(&self, sequence: usize) -> usize {
        self.tables[sequence].len() * self.page_len
    }

    fn write(&mut self, _: usize, _: usize, _: usize, _: &[f32], _: &[f32]) {
        panic!("the attention must not change these pages, which are full, but does")
    }

    fn runs(
        &self,
        _layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        let (page, d) = (self.page_len, self.shape.head_dim);
        let pages = positions.start / page..positions.end.div_ceil(page);
        pages.map(move |i| {
            let (start, end) = (positions.start.max(i * page), positions.end.min((i + 1) * page));
            self.pages_read.fetch_add(1, Relaxed);
            self.positions_read.fetch_add(end - start, Relaxed);
            let at =
                (self.tables[sequence][i] * self.shape.kv_heads + head) * page + start - i * page;
            let numbers = at * d..(at + end - start) * d;
            let keys = Cells::F32(&self.keys[numbers.clone()]);
            Run { start, len: end - start, keys, values: Cells::F32(&self.values[numbers]) }
        })
    }

    fn advance(&mut self, _: usize, _: usize) {
        panic!("the attention must not change these pages, which are full, but does")
    }

    fn truncate(&mut self, _: usize, _: usize) {
        panic!("the attention must not change these pages, which are full, but does")
    }
}

impl Pages for Tables {
    fn page_len(&self) -> usize {
        self.page_len
    }

    fn page_name(&self, sequence: usize, i: usize) -> usize {
        let table = &self.tables[sequence];
        *table.get(i).unwrap_or_else(|| {
            panic!("page {i} was requested, but sequence {sequence} has no page {i}: {table:?}")
        })
    }
}

fn row(sequence: usize, position: usize) -> Row {
    Row { token: 0, position, sequence, logits: false }
}

fn tables(tables: &[&[usize]]) -> Tables {
    let pages = tables.iter().flat_map(|table| table.iter()).max().map_or(0, |most| most + 1);
    let shape = CacheShape {
        layers: 1,
        sequences: tables.len(),
        kv_heads: 1,
        capacity: 32 * tables.iter().map(|table| table.len()).max().unwrap_or(0),
        head_dim: 8,
    };
    Tables {
        shape,
        page_len: 32,
        keys: values(&random(1, &[pages * 32 * 8])),
        values: values(&random(2, &[pages * 32 * 8])),
        tables: tables.iter().map(|table| table.to_vec()).collect(),
        pages_read: AtomicUsize::new(0),
        positions_read: AtomicUsize::new(0),
    }
}

/// Computes attention of a case's rows with `read_pages`, in the order that `arrange` returns.
fn by_pages(case: &Case, cache: &Tables) -> Tensor {
    let (rows, scale) = (case.read::<Vec<Vec<usize>>>("rows"), case.scalar("scale") as f32);
    let q = case.numbers("q");
    let [d, heads] = [cache.shape.head_dim, cache.shape.kv_heads];
    let width = q.len() / rows.len();
    let group = width / heads / d;
    let rows: Vec<Row> = rows.iter().map(|at| row(at[0], at[1])).collect();
    let mut order = Vec::new();
    arrange(cache, &rows, &mut order);
    let mut out = Tensor::zeros(vec![rows.len(), width]);
    for head in 0..heads {
        let theirs: Vec<f32> = order
            .iter()
            .flat_map(|t| q[t * width + head * group * d..][..group * d].to_vec())
            .collect();
        let seen: Vec<_> =
            order.iter().map(|&t| (rows[t].sequence, 0..rows[t].position + 1)).collect();
        let mut held = Held::new(rows.len() * group, d);
        let mut readers = held.readers(&theirs, &seen, group, d);
        let end = seen.iter().map(|(_, seen)| seen.end).max().unwrap_or(0);
        let mut desk = Box::new(Desk::default());
        read_pages(cache, (0, head), 0..end, &mut readers, scale, &mut desk);
        let found = held.output();
        for (i, &t) in order.iter().enumerate() {
            for j in 0..group * d {
                out[[t, head * group * d + j]] = found[[i * group + j / d, j % d]];
            }
        }
    }
    out
}

#[track_caller]
fn check_pages(name: &str) {
    let case = Fixtures::open("week3_day4").case(&format!("task_2_read_pages/{name}"));
    resting_on(&[READ], || {
        let cache = Tables::of(&case);
        let found = by_pages(&case, &cache);
        let rows = rows_of(&case);
        case.check_rows("output", &rows, &found);
        let heads = cache.shape.kv_heads;
        let expected = (heads * case.count("pages_read"), heads * case.count("positions_read"));
        assert_answer(
            &format!("{}: rows {rows:?}: pages and positions read", case.name()),
            &cache.reads(),
            &expected,
        );
    });
}

fn rows_of(case: &Case) -> Vec<String> {
    let tables = case.read::<Vec<Vec<usize>>>("tables");
    let rows = case.read::<Vec<Vec<usize>>>("rows");
    rows.iter()
        .map(|at| format!("position {} of sequence {}, pages {:?}", at[1], at[0], tables[at[0]]))
        .collect()
}

fn plan(threads: usize) -> Plan {
    Plan {
        kernels: Rung::Fused.into(),
        attention: AttentionKind::Streaming,
        team: Team::new(threads),
    }
}

/// Returns a model of three layers with random weights: eight query heads, two KV heads of 16.
fn model() -> Arc<Model> {
    let json = r#"{"model_type": "llama", "hidden_size": 32, "num_hidden_layers": 3,
        "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 48,
        "vocab_size": 50, "hidden_act": "silu", "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true}"#;
    Arc::new(models::random(json, 0.2))
}

fn token(sequence: usize, position: usize) -> u32 {
    ((position * 31 + sequence * 17 + position / 7) % 50) as u32
}

/// Returns the logits of two texts after each pass. Their first 40 tokens are equal. `fork` shares
/// these tokens instead of computing them twice.
fn logits<C: KvCache>(
    model: &Model,
    threads: usize,
    mut cache: C,
    fork: Option<fn(&mut C)>,
) -> Vec<Vec<f32>> {
    let (plan, mut work) = (plan(threads), Workspace::default());
    let text = |sequence: usize, position: usize| Row {
        token: token(if position < 40 { 0 } else { sequence }, position),
        position,
        sequence,
        logits: position.is_multiple_of(9),
    };
    let mut pass =
        |cache: &mut C, rows: &[Row]| model.forward(rows, cache, &plan, &mut work).to_vec();
    let mut all = Vec::new();
    let first: Vec<Row> = (0..40).map(|p| text(0, p)).collect();
    pass(&mut cache, &first);
    match fork {
        Some(fork) => fork(&mut cache),
        None => drop(pass(&mut cache, &(0..40).map(|p| text(1, p)).collect::<Vec<_>>())),
    }
    let passes: [Vec<Row>; 4] = [
        (40..180).map(|p| text(0, p)).collect(),
        (40..100).map(|p| text(1, p)).chain([text(0, 180)]).collect(),
        vec![text(1, 100), text(0, 181)],
        (101..145).map(|p| text(1, p)).chain((182..190).map(|p| text(0, p))).collect(),
    ];
    for rows in &passes {
        all.push(pass(&mut cache, rows));
    }
    all
}

#[cfg(feature = "fresh")]
#[path = "fresh/week3_day4.rs"]
mod fresh;
