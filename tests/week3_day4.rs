//! Week 3, day 4: a run shown to many readers, pages that are read once, and a long context in parts.
//!
//! Expected values: `python-ref/oracle/week3_day4.py`.

use std::{
    iter,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use half::f16;
use tiny_llm::{
    week2::{
        attention::attend,
        cache::{CacheShape, CacheType, Cells, DenseCache, KvCache, Run},
        kernels::Rung,
        load::{Rope, build},
        matrix::Matrix,
        model::{Model, Workspace},
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::RopeLayout,
        rows::{Queries, Row},
        streaming::OnlineSoftmax,
    },
    week3::{
        paged::PagedCache,
        parts::{InParts, in_part, join},
        reader::{Desk, Pages, Reader, arrange, read_pages, read_run},
        room::EngineCache,
    },
};
use tiny_llm_formats::{Tensor, config::ModelConfig, tensor::tensor};
use tiny_llm_harness::{
    allocations::{CountingAllocator, count},
    check::{Part, assert_accepts, assert_answer, resting_on},
    fixtures::{Case, Fixtures, Json, random},
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn values(x: &Tensor) -> Vec<f32> {
    x.iter().copied().collect()
}

fn number(json: &Json) -> usize {
    json.as_u64().expect("a number") as usize
}

fn list(json: &Json) -> Vec<usize> {
    json.as_array().expect("a list").iter().map(number).collect()
}

fn lists(json: &Json) -> Vec<Vec<usize>> {
    json.as_array().expect("a list").iter().map(list).collect()
}

// Task 1

/// What readers hold: their softmaxes `[R, G]` and sums `[R, G, D]`.
struct Held {
    softmax: Vec<OnlineSoftmax>,
    sums: Vec<f32>,
}

impl Held {
    fn new(queries: usize, dim: usize) -> Self {
        Self { softmax: vec![OnlineSoftmax::default(); queries], sums: vec![0.0; queries * dim] }
    }

    /// A reader for each range, of so many heads: `q [R, G, D]`.
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

    /// `[R·G, D]`, divided.
    fn output(&self) -> Tensor {
        let dim = self.sums.len() / self.softmax.len();
        let rows = self.sums.chunks_exact(dim).zip(&self.softmax);
        let out = rows.flat_map(|(row, state)| row.iter().map(|x| x / state.total));
        tensor(&[self.softmax.len(), dim], out.collect())
    }
}

/// Keys or values, as numbers of either type.
fn both(x: &[f32]) -> (Vec<f32>, Vec<f16>) {
    (x.to_vec(), x.iter().map(|&x| f16::from_f32(x)).collect())
}

#[track_caller]
fn check_read_run(name: &str) {
    let fixtures = Fixtures::open("week3_day4");
    let case = fixtures.case(&format!("task_1_read_run/{name}"));
    let (q, scale) = (values(&case.tensor("q")), case.scalar("scale") as f32);
    let dim = case.tensor("q").shape()[1];
    let (keys, numbers) =
        (both(&values(&case.tensor("keys"))), both(&values(&case.tensor("values"))));
    let half = case.value("half").as_bool().expect("yes or no");
    let heads = case.count("heads");
    let seen: Vec<_> =
        lists(case.value("visible")).iter().map(|range| (0, range[0]..range[1])).collect();
    let mut held = Held::new(seen.len() * heads, dim);
    let (mut start, mut desk) = (0, Box::new(Desk::default()));
    for len in list(case.value("runs")) {
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

#[test]
fn task_1_one_row() {
    check_read_run("one_row");
}

#[test]
fn task_1_one_position() {
    check_read_run("one_position");
}

#[test]
fn task_1_three_rows_that_see_different_positions() {
    check_read_run("three_rows");
}

#[test]
fn task_1_many_rows() {
    check_read_run("many_rows");
}

#[test]
fn task_1_rows_within_windows() {
    check_read_run("windows");
}

#[test]
fn task_1_pages_in_f16() {
    check_read_run("half");
}

#[test]
fn task_1_rising_scores() {
    check_read_run("rising");
}

/// Two heads of a row that sees 40 positions, alone and among others: the same, to the last bit.
#[test]
fn task_1_company_changes_nothing() {
    let (dim, heads) = (32, 2);
    let numbers = |seed, n| values(&random(seed, &[n * dim]));
    let (q, keys, cells) = (numbers(1, 14), numbers(2, 96), numbers(3, 96));
    let read = |seen: &[(usize, Range<usize>)]| {
        let mut held = Held::new(seen.len() * heads, dim);
        for (start, len) in [(0, 32), (32, 64)] {
            let part = |x| Cells::F32(&Vec::as_slice(x)[start * dim..(start + len) * dim]);
            let run = Run { start, len, keys: part(&keys), values: part(&cells) };
            let mut readers = held.readers(&q, seen, heads, dim);
            let mut desk = Box::new(Desk::for_queries(if seen.len() > 5 { 128 } else { 1 }));
            read_run(&mut readers, run, dim, 0.2, &mut desk);
        }
        held
    };
    let alone = read(&[(0, 0..40)]);
    for others in [1, 3, 6] {
        let ranges: Vec<_> =
            iter::once((0, 0..40)).chain((0..others).map(|i| (0, 0..96 - 9 * i))).collect();
        let found = read(&ranges);
        let same =
            found.softmax[..2] == alone.softmax[..] && found.sums[..2 * dim] == alone.sums[..];
        assert!(
            same,
            "a row that sees 40 of 96 positions, alone or with {others} others: not the same"
        );
    }
}

#[test]
fn task_1_nothing_is_gathered() {
    let (dim, len) = (64, 2048);
    let numbers = |seed, n| values(&random(seed, &[n * dim]));
    let (q, keys, cells) = (numbers(1, 4), numbers(2, len), numbers(3, len));
    let mut desk = Box::new(Desk::default());
    let mut held = Held::new(4, dim);
    let mut readers = held.readers(&q, &[(0, 0..len), (0, 0..1500)], 2, dim);
    let mut run = || {
        let run = Run { start: 0, len, keys: Cells::F32(&keys), values: Cells::F32(&cells) };
        read_run(&mut readers, run, dim, 0.125, &mut desk);
    };
    run();
    // Other tests of this program may allocate meanwhile; one quiet run is proof.
    let fewest = (0..50).map(|_| count(&mut run).0).min().expect("fifty counts");
    assert!(
        fewest == 0,
        "heap allocations of read_run over {len} positions: found {fewest}, expected none: \
         keys and values are read where they lie"
    );
}

const READ: &Part = &Part { task: "week3-day4 task 1", what: "read_run", check: check_read };

fn check_read() {
    ["one_row", "three_rows", "many_rows", "windows", "rising"]
        .into_iter()
        .for_each(check_read_run);
}

// Task 2

/// Pages with given tables, which count how often they are read.
struct Tables {
    shape: CacheShape,
    page_len: usize,
    /// `[P, H, page_len, D]`
    keys: Vec<f32>,
    values: Vec<f32>,
    tables: Vec<Vec<usize>>,
    pages_read: AtomicUsize,
    positions_read: AtomicUsize,
}

impl Tables {
    fn of(case: &Case) -> Self {
        let tables = lists(case.value("tables"));
        let [_, kv_heads, page_len, head_dim] = case.tensor("keys").shape().try_into().expect("4");
        let capacity = page_len * tables.iter().map(Vec::len).max().unwrap_or(0);
        let sequences = tables.len();
        Self {
            shape: CacheShape { layers: 1, sequences, kv_heads, capacity, head_dim },
            page_len,
            keys: values(&case.tensor("keys")),
            values: values(&case.tensor("values")),
            tables,
            pages_read: AtomicUsize::new(0),
            positions_read: AtomicUsize::new(0),
        }
    }

    /// Pages and positions that were read since the last time, in all heads.
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
        panic!("these pages are full: nobody writes into them")
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
        panic!("these pages are full: nobody writes into them")
    }

    fn truncate(&mut self, _: usize, _: usize) {
        panic!("these pages are full: nobody writes into them")
    }
}

impl Pages for Tables {
    fn page_len(&self) -> usize {
        self.page_len
    }

    fn page_name(&self, sequence: usize, i: usize) -> usize {
        let table = &self.tables[sequence];
        *table.get(i).unwrap_or_else(|| panic!("sequence {sequence} has no page {i}: {table:?}"))
    }
}

fn row(sequence: usize, position: usize) -> Row {
    Row { token: 0, position, sequence, logits: false }
}

/// Tables of sequences, rows of (sequence, position), pages of 32.
type Shared = (&'static str, &'static [&'static [usize]], &'static [(usize, usize)]);

const SHARED: [Shared; 6] = [
    ("one row", &[&[3]], &[(0, 5)]),
    ("nothing is shared", &[&[3, 1], &[2], &[0]], &[(2, 5), (0, 40), (1, 9)]),
    (
        "two that share a page, with a stranger between them",
        &[&[0, 1], &[2, 3], &[0, 4]],
        &[(0, 40), (1, 40), (2, 40)],
    ),
    (
        "two pairs that share one page with each other, and a second one in each pair",
        &[&[0, 1, 2], &[0, 4, 5], &[0, 1, 3], &[0, 4, 6]],
        &[(0, 90), (1, 90), (2, 90), (3, 90)],
    ),
    (
        "a prompt of three rows, a stranger, and two rows more of the prompt",
        &[&[5, 6], &[1, 2]],
        &[(0, 30), (0, 31), (0, 32), (1, 33), (0, 33), (0, 34)],
    ),
    (
        "shared pages of which one row sees fewer than the other",
        &[&[7, 2, 3], &[1], &[7, 2, 4]],
        &[(0, 20), (1, 3), (2, 80)],
    ),
];

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

#[test]
fn task_2_rows_that_share_pages_are_neighbours() {
    for (why, table, at) in SHARED {
        let cache = tables(table);
        let rows: Vec<Row> =
            at.iter().map(|&(sequence, position)| row(sequence, position)).collect();
        let call = format!("{why}: tables {table:?}, rows (sequence, position) {at:?}");
        // An older pass's.
        let mut order = vec![0, 0];
        assert_accepts(&call, || arrange(&cache, &rows, &mut order));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(
            sorted.iter().copied().eq(0..rows.len()),
            "{call}: the order is {order:?}; expected each row's index once"
        );
        for i in 0..3 {
            // The rows that see page i, by its name: each name must come in one stretch.
            let seen = order.iter().filter(|t| rows[**t].position / 32 >= i);
            let names: Vec<usize> = seen.map(|&t| cache.page_name(rows[t].sequence, i)).collect();
            let stretches = names.chunk_by(|a, b| a == b).count();
            let mut different = names.clone();
            different.sort_unstable();
            different.dedup();
            assert!(
                stretches == different.len(),
                "{call}: the order is {order:?}, in which the rows that see page {i} have there the \
                 pages {names:?}; those that have the same page must be neighbours"
            );
        }
    }
}

/// Attention of a case's rows by `read_pages` alone, in the order of `arrange`.
fn by_pages(case: &Case, cache: &Tables) -> Tensor {
    let (rows, scale) = (lists(case.value("rows")), case.scalar("scale") as f32);
    let q = values(&case.tensor("q"));
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
    let fixtures = Fixtures::open("week3_day4");
    let case = fixtures.case(&format!("task_2_read_pages/{name}"));
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
    let tables = lists(case.value("tables"));
    let rows = lists(case.value("rows"));
    rows.iter()
        .map(|at| format!("position {} of sequence {}, pages {:?}", at[1], at[0], tables[at[0]]))
        .collect()
}

#[test]
fn task_2_one_text() {
    check_pages("one_text");
}

#[test]
fn task_2_rows_of_a_prompt() {
    check_pages("a_prompt");
}

#[test]
fn task_2_answers_to_one_prompt() {
    check_pages("shared");
}

#[test]
fn task_2_pages_shared_by_all_and_by_some() {
    check_pages("shared_then_not");
}

/// What is asked for, what two rows may see; pages and positions read.
type Asked = (Range<usize>, [Range<usize>; 2], (usize, usize));

/// Of the positions that are asked for, what readers may see, in whole tiles.
#[test]
fn task_2_no_more_than_is_seen() {
    resting_on(&[READ], || {
        let cache = tables(&[&[2, 0, 1, 3], &[2, 0, 4]]);
        let q = values(&random(5, &[2 * 8]));
        let cases: [Asked; 6] = [
            (0..128, [0..40, 0..33], (2, 40)),
            (32..64, [0..128, 0..96], (1, 32)),
            (64..128, [0..128, 0..96], (3, 96)),
            (0..128, [0..10, 0..64], (2, 64)),
            (0..128, [40..90, 50..70], (3, 32 + 26 + 6)),
            (64..128, [0..64, 0..70], (1, 6)),
        ];
        for (asked, seen, expected) in cases {
            let call = format!("positions {asked:?} for two rows that may see {seen:?}");
            let mut held = Held::new(2, 8);
            let seen: Vec<_> = seen.into_iter().enumerate().collect();
            let mut readers = held.readers(&q, &seen, 1, 8);
            let mut desk = Box::new(Desk::default());
            assert_accepts(&call, || {
                read_pages(&cache, (0, 0), asked.clone(), &mut readers, 0.3, &mut desk);
            });
            let what = format!("{call}, who share two pages of 32: pages and positions read");
            assert_answer(&what, &cache.reads(), &expected);
        }
    });
}

// Task 3

const WALK: &Part = &Part { task: "week3-day4 task 2", what: "read_pages", check: check_walk };

fn check_walk() {
    ["one_text", "a_prompt", "shared", "shared_then_not"].into_iter().for_each(check_pages);
}

#[test]
fn task_3_positions_of_a_part() {
    // What is visible, the part of 64 positions; what of it is visible.
    let cases: [(Range<usize>, usize, Range<usize>); 9] = [
        (0..100, 0, 0..64),
        (0..100, 1, 64..100),
        (0..64, 0, 0..64),
        (0..65, 1, 64..65),
        (0..1, 0, 0..1),
        (70..90, 1, 70..90),
        (40..130, 0, 40..64),
        (40..130, 1, 64..128),
        (40..130, 2, 128..130),
    ];
    for (visible, i, expected) in cases {
        let call = format!("part {i}, of 64 positions, of {visible:?}");
        let found = assert_accepts(&call, || in_part(&visible, i, 64));
        assert_answer(&call, &found, &expected);
    }
    for (visible, i) in [(0..64, 1), (0..20, 3), (70..90, 0), (70..90, 2), (0..0, 0)] {
        let call = format!("part {i}, of 64 positions, of {visible:?}");
        let found = assert_accepts(&call, || in_part(&visible, i, 64));
        assert!(found.is_empty(), "{call}: nothing of it is visible, but {found:?} was returned");
    }
}

#[track_caller]
fn check_join(name: &str) {
    let fixtures = Fixtures::open("week3_day4");
    let case = fixtures.case(&format!("task_3_join/{name}"));
    let (states, parts) = (case.tensor("states"), case.tensor("parts"));
    let d = parts.shape()[1];
    let (mut softmax, mut sums) = (OnlineSoftmax::default(), vec![0.0; d]);
    for (state, part) in states.outer_iter().zip(parts.outer_iter()) {
        let part: Vec<f32> = part.iter().copied().collect();
        let state = OnlineSoftmax { max: state[0], total: state[1] };
        join(&mut softmax, &mut sums, state, &part);
    }
    let names = ["the maximum".to_owned(), "the total".to_owned()];
    case.check_rows("state", &names, &tensor(&[2], vec![softmax.max, softmax.total]));
    case.check("sums", &tensor(&[d], sums));
}

#[test]
fn task_3_join_falling_maximums() {
    check_join("falling");
}

#[test]
fn task_3_join_rising_maximums() {
    check_join("rising");
}

#[test]
fn task_3_join_nothing_first() {
    check_join("nothing_first");
}

#[test]
fn task_3_join_nothing_last() {
    check_join("nothing_last");
}

#[test]
fn task_3_join_nothing_at_all() {
    check_join("nothing_at_all");
}

#[test]
fn task_3_join_very_negative_scores() {
    check_join("very_negative");
}

/// The first part joins nothing: it stays what it is, to the last bit, whatever stood there.
#[test]
fn task_3_the_first_part_stays_what_it_is() {
    let (part, values) = (OnlineSoftmax { max: -3.7, total: 1.1 }, [0.1, -7.3, 1e-20]);
    let (mut softmax, mut sums) = (OnlineSoftmax::default(), [0.0; 3]);
    join(&mut softmax, &mut sums, part, &values);
    assert!(
        softmax == part && sums == values,
        "nothing joined with {part:?}, {values:?}: found {softmax:?}, {sums:?}"
    );
}

fn plan(threads: usize) -> Plan {
    Plan {
        kernels: Rung::Fused.into(),
        attention: AttentionKind::Streaming,
        team: Team::new(threads),
    }
}

/// Attention over the tables of a case, in parts.
fn in_parts(case: &Case, threads: usize) -> (Tensor, (usize, usize)) {
    let rows: Vec<Row> = lists(case.value("rows")).iter().map(|at| row(at[0], at[1])).collect();
    let cache = InParts::with_part_len(Tables::of(case), case.count("part_len"));
    let (q, shape) = (values(&case.tensor("q")), cache.shape());
    let group = q.len() / rows.len() / shape.kv_heads / shape.head_dim;
    let queries = Queries { rows: &rows, q: &q, group, head_dim: shape.head_dim };
    // What stands in the output before must not matter.
    let mut out = vec![f32::NAN; q.len()];
    attend(&plan(threads), &cache, 0, queries, &mut out);
    (tensor(&[rows.len(), q.len() / rows.len()], out), cache.inner().reads())
}

#[track_caller]
fn check_attend(name: &str) {
    let fixtures = Fixtures::open("week3_day4");
    let case = fixtures.case(&format!("task_3_attend/{name}"));
    resting_on(&[READ, WALK], || {
        let (found, reads) = in_parts(&case, 1);
        case.check_rows("output", &rows_of(&case), &found);
        let expected = (2 * case.count("pages_read"), 2 * case.count("positions_read"));
        let what = format!("{}: pages and positions read, in two heads", case.name());
        assert_answer(&what, &reads, &expected);
        for threads in [2, 3] {
            let (other, _) = in_parts(&case, threads);
            assert!(other == found, "{}: on {threads} threads the answer is another", case.name());
        }
    });
}

#[test]
fn task_3_attention_in_two_parts() {
    check_attend("two_parts");
}

#[test]
fn task_3_attention_at_the_edges_of_parts() {
    check_attend("edges");
}

#[test]
fn task_3_attention_over_shared_pages() {
    check_attend("shared");
}

#[test]
fn task_3_attention_with_rising_scores() {
    check_attend("rising");
}

/// Two layers of random weights: four query heads on two key and value heads of 16.
fn model() -> Arc<Model> {
    let json = r#"{"model_type": "llama", "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 48,
        "vocab_size": 50, "hidden_act": "silu", "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true}"#;
    let config = ModelConfig::from_json(json, "config.json").expect("a plain configuration");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let mut seed = 0;
    let mut matrix = |name: &str, shape: &[usize]| {
        seed += 1;
        let norm = name.ends_with("norm.weight");
        let numbers: Vec<f32> = random(seed, shape)
            .iter()
            .map(|x| if norm { 1.0 + 0.2 * x } else { 0.2 * x })
            .collect();
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        Ok(Matrix::from_f32(rows, cols, &numbers))
    };
    Arc::new(build(config, &rope, 512, &mut matrix).expect("every weight is there"))
}

fn shape_of(model: &Model, sequences: usize) -> CacheShape {
    let c = &model.config;
    let (layers, kv_heads, head_dim) = (c.n_layers, c.n_kv_heads, c.head_dim);
    CacheShape { layers, sequences, kv_heads, capacity: 384, head_dim }
}

fn token(sequence: usize, position: usize) -> u32 {
    ((position * 31 + sequence * 17 + position / 7) % 50) as u32
}

/// Logits of two texts after each pass. The second has the first one's beginning of 40 tokens if
/// `fork` makes it so.
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

/// Dense or paged, shared or computed twice, on one thread or three: one answer.
#[test]
fn task_3_the_model_says_the_same_over_any_cache() {
    resting_on(&[READ, WALK], || {
        let model = model();
        let shape = shape_of(&model, 2);
        let dense = || InParts::with_part_len(DenseCache::new(shape, CacheType::F16), 64);
        let paged = |page_len| {
            let pages = 800 / page_len;
            let cache = PagedCache::new(shape, page_len, pages, CacheType::F16);
            InParts::with_part_len(cache, 64)
        };
        let expected = logits(&model, 1, dense(), None);
        let plain = logits(&model, 1, DenseCache::new(shape, CacheType::F16), None);
        for (found, expected) in expected.iter().flatten().zip(plain.iter().flatten()) {
            let distance = (found - expected).abs();
            assert!(distance < 1e-3, "in parts or not: logits {found} and {expected}");
        }
        let fork: fn(&mut InParts<PagedCache>) = |cache| cache.inner_mut().fork(0, 1);
        for (what, found) in [
            ("on three threads", logits(&model, 3, dense(), None)),
            ("over pages of 32", logits(&model, 1, paged(32), None)),
            ("over pages of 64", logits(&model, 2, paged(64), None)),
            ("with shared pages", logits(&model, 1, paged(32), Some(fork))),
            ("with shared pages of 64 on two threads", logits(&model, 2, paged(64), Some(fork))),
        ] {
            assert!(found == expected, "{what}: the logits are not those of the dense cache");
        }
    });
}

/// After the first pass of a size, nothing is allocated.
#[test]
fn task_3_nothing_is_allocated() {
    let shape = CacheShape { layers: 1, sequences: 2, kv_heads: 2, capacity: 300, head_dim: 16 };
    let mut cache = InParts::with_part_len(PagedCache::new(shape, 32, 20, CacheType::F32), 64);
    for sequence in 0..2 {
        assert!(cache.reserve(sequence, 300), "20 pages");
        for position in 0..300 {
            let numbers = values(&random(position as u64, &[32]));
            cache.write(0, sequence, position, &numbers, &numbers);
            cache.advance(sequence, position);
        }
    }
    let (rows, q) = ([row(0, 299), row(1, 250)], values(&random(9, &[2 * 4 * 16])));
    let (plan, mut out) = (plan(1), vec![0.0; q.len()]);
    let mut run = || {
        let queries = Queries { rows: &rows, q: &q, group: 2, head_dim: 16 };
        attend(&plan, &cache, 0, queries, &mut out);
    };
    run();
    let fewest = (0..50).map(|_| count(&mut run).0).min().expect("fifty counts");
    assert!(fewest == 0, "heap allocations of a step's attention: found {fewest}, expected none");
}

#[cfg(feature = "fresh")]
#[path = "fresh/week3_day4.rs"]
mod fresh;
