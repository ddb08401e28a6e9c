//! Week 3, day 3: a pool of pages, a cache in pages, pages that are shared, and who goes when pages
//! run out.
//!
//! Expected tables and contents: `python-ref/oracle/week3_day3.py`.

use std::ops::Range;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, Cells, KvCache, Run},
        kernels::vector::TILE,
    },
    week3::{
        paged::PagedCache,
        pool::{BlockPool, Page},
    },
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check::{Part, assert_accepts, assert_answer, assert_panics, resting_on},
    fixtures::{Case, Fixtures},
};

// Task 1

/// What happens to a pool in a test. Handles are kept in a list; a number is a place in it.
#[derive(Debug, Clone, Copy)]
enum Act {
    Allocate,
    Retain(usize),
    Release(usize),
}

/// A pool, the handles that are out, and what can be seen of both.
struct Lent {
    pool: BlockPool,
    handles: Vec<Page>,
}

impl Lent {
    fn new(pages: usize) -> Self {
        Self { pool: BlockPool::new(pages), handles: Vec::new() }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Allocate => self.handles.extend(self.pool.allocate()),
            Act::Retain(i) => {
                let handle = self.pool.retain(&self.handles[i]);
                self.handles.push(handle);
            }
            Act::Release(i) => {
                let handle = self.handles.remove(i);
                self.pool.release(handle);
            }
        }
    }

    /// How many pages are free, and the page of every handle with its owners.
    fn seen(&self) -> (usize, Vec<(usize, usize)>) {
        let owners = |page: &Page| (page.index(), self.pool.num_owners(page));
        (self.pool.num_free(), self.handles.iter().map(owners).collect())
    }
}

/// An act, and what is seen after it: how many pages are free, each handle's page and its owners.
type Line = (Act, usize, &'static [(usize, usize)]);

#[track_caller]
fn goes(why: &str, pages: usize, script: &[Line]) {
    let (mut lent, mut done) = (Lent::new(pages), Vec::new());
    for &(act, free, handles) in script {
        let call = format!("{why}, of {pages} pages: after {done:?}, {act:?}");
        assert_accepts(&call, || lent.act(act));
        assert_answer(
            &format!("{call}\n  (how many pages are free; each handle's page and its owners)\n "),
            &lent.seen(),
            &(free, handles.to_vec()),
        );
        done.push(act);
    }
}

#[test]
fn task_1_pages_come_and_go() {
    use Act::{Allocate, Release};
    goes(
        "the page that has been free longest comes first",
        3,
        &[
            (Allocate, 2, &[(0, 1)]),
            (Allocate, 1, &[(0, 1), (1, 1)]),
            (Release(0), 2, &[(1, 1)]),
            (Allocate, 1, &[(1, 1), (2, 1)]),
            (Release(0), 2, &[(2, 1)]),
            (Allocate, 1, &[(2, 1), (0, 1)]),
            (Allocate, 0, &[(2, 1), (0, 1), (1, 1)]),
            (Allocate, 0, &[(2, 1), (0, 1), (1, 1)]),
            (Release(1), 1, &[(2, 1), (1, 1)]),
            (Allocate, 0, &[(2, 1), (1, 1), (0, 1)]),
        ],
    );
}

#[test]
fn task_1_a_shared_page_stays_until_the_last_owner_goes() {
    use Act::{Allocate, Release, Retain};
    goes(
        "a page with up to three owners",
        2,
        &[
            (Allocate, 1, &[(0, 1)]),
            (Retain(0), 1, &[(0, 2), (0, 2)]),
            (Retain(1), 1, &[(0, 3), (0, 3), (0, 3)]),
            (Release(0), 1, &[(0, 2), (0, 2)]),
            (Allocate, 0, &[(0, 2), (0, 2), (1, 1)]),
            (Release(1), 0, &[(0, 1), (1, 1)]),
            (Retain(0), 0, &[(0, 2), (1, 1), (0, 2)]),
            (Release(0), 0, &[(1, 1), (0, 1)]),
            (Release(1), 1, &[(1, 1)]),
            (Allocate, 0, &[(1, 1), (0, 1)]),
        ],
    );
}

#[test]
fn task_1_can_allocate_up_to_the_last_page() {
    for pages in [0, 1, 3] {
        let mut lent = Lent::new(pages);
        for taken in 0..=pages {
            let call = format!("{pages} pages, {taken} of them taken: can_allocate of 0 to 5 pages");
            let found: Vec<bool> =
                assert_accepts(&call, || (0..=5).map(|n| lent.pool.can_allocate(n)).collect());
            let expected: Vec<bool> = (0..=5).map(|n| n + taken <= pages).collect();
            assert_answer(&call, &found, &expected);
            lent.act(Act::Allocate);
        }
    }
}

/// The type keeps a handle from being used twice; but two pools may have handles of one number.
#[test]
fn task_1_a_handle_of_another_pool_is_refused() {
    let mut other = BlockPool::new(2);
    let stranger = other.allocate().expect("a free page");
    assert_panics("retain with another pool's handle, whose page is free here", || {
        BlockPool::new(2).retain(&stranger)
    });
    assert_panics("release of another pool's handle, whose page is free here", || {
        BlockPool::new(2).release(stranger);
    });
}

/// Numbers that look random, the same on every machine.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) as usize) % n
    }
}

#[test]
fn task_1_a_million_operations() {
    const PAGES: usize = 40;
    let (mut lent, mut draws) = (Lent::new(PAGES), Draws(33));
    // How many handles of each page are out, counted here.
    let mut counts = [0; PAGES];
    for done in 0..1_000_000 {
        let (n, free) = (lent.handles.len(), lent.pool.num_free());
        // Times of growth and times of shrinking, so that the pool is full and empty now and then.
        let growing = done / 500 % 2 == 0;
        match (draws.below(8), n) {
            (0, 1..) => {
                let i = draws.below(n);
                counts[lent.handles[i].index()] += 1;
                lent.act(Act::Retain(i));
            }
            (choice, _) if n == 0 || (choice < 6) == growing => {
                lent.act(Act::Allocate);
                assert_eq!(lent.handles.len() > n, free > 0, "operation {done}: {free} pages free");
                if let Some(page) = lent.handles.get(n) {
                    let index = page.index();
                    assert!(counts[index] == 0, "operation {done}: page {index} is allocated twice");
                    counts[index] = 1;
                }
            }
            _ => {
                let i = draws.below(n);
                counts[lent.handles[i].index()] -= 1;
                lent.act(Act::Release(i));
            }
        }
        let free = counts.iter().filter(|count| **count == 0).count();
        assert_eq!(
            lent.pool.num_free(),
            free,
            "operation {done}: free pages are those without a handle"
        );
        if done % 100 == 0 {
            for page in &lent.handles {
                let (found, expected) = (lent.pool.num_owners(page), counts[page.index()]);
                assert_eq!(found, expected, "operation {done}: owners of page {}", page.index());
            }
        }
    }
}

const POOL: &Part = &Part { task: "week3-day3 task 1", what: "the pool", check: check_pool };

fn check_pool() {
    task_1_pages_come_and_go();
    task_1_a_shared_page_stays_until_the_last_owner_goes();
    task_1_can_allocate_up_to_the_last_page();
}

// Tasks 2 and 3

/// Two layers, two heads of three numbers, three sequences.
const SHAPE: CacheShape =
    CacheShape { layers: 2, sequences: 3, kv_heads: 2, capacity: 400, head_dim: 3 };

fn cache(pages: usize) -> PagedCache {
    PagedCache::new(SHAPE, TILE, pages, CacheType::F32)
}

/// The number at a place of a text, of which there is no second one: `text` tells versions of a
/// position apart.
fn number(text: usize, layer: usize, head: usize, position: usize, d: usize) -> f32 {
    (((text * SHAPE.layers + layer) * SHAPE.kv_heads + head) * 512 + position) as f32
        + d as f32 * 0.25
}

/// The keys of a position for all heads; its values are these less 0.125.
fn row(text: usize, layer: usize, position: usize) -> Vec<f32> {
    (0..SHAPE.kv_heads)
        .flat_map(|head| (0..SHAPE.head_dim).map(move |d| number(text, layer, head, position, d)))
        .collect()
}

fn values(keys: &[f32]) -> Vec<f32> {
    keys.iter().map(|x| x - 0.125).collect()
}

/// Writes positions of a sequence as a model does: layer by layer, then counts them.
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

/// Passes if a sequence holds these texts' numbers: `texts[position]` says whose.
#[track_caller]
fn holds(what: &str, cache: &PagedCache, sequence: usize, texts: &[usize]) {
    assert_answer(&format!("{what}: positions"), &cache.len(sequence), &texts.len());
    for layer in 0..SHAPE.layers {
        for head in 0..SHAPE.kv_heads {
            let what = format!("{what}: sequence {sequence}, layer {layer}, head {head}");
            let runs: Vec<Run> =
                assert_accepts(&what, || cache.runs(layer, sequence, head, 0..texts.len()).collect());
            let place = |position: usize| {
                (0..3).map(move |d| number(texts[position], layer, head, position, d))
            };
            let keys: Vec<f32> = (0..texts.len()).flat_map(place).collect();
            let found = |cells: fn(&Run) -> Vec<f32>| runs.iter().flat_map(cells).collect::<Vec<_>>();
            assert_answer(&format!("{what}: keys"), &found(|run| numbers(run.keys)), &keys);
            let found = found(|run| numbers(run.values));
            assert_answer(&format!("{what}: values"), &found, &values(&keys));
        }
    }
}

/// The pages of all sequences, and how many are free.
fn pages(cache: &PagedCache) -> (Vec<Vec<usize>>, usize) {
    let table = |s| cache.table(s).iter().map(Page::index).collect();
    ((0..cache.shape().sequences).map(table).collect(), cache.pool().num_free())
}

/// A script of the oracle: tables after each line, and what each sequence holds in the end.
#[track_caller]
fn check_script(name: &str) {
    let fixtures = Fixtures::open("week3_day3");
    let case = fixtures.case(name);
    resting_on(&[POOL], || script(&case));
}

#[track_caller]
fn script(case: &Case) {
    let number = |json: &tiny_llm_harness::fixtures::Json| json.as_u64().expect("a number") as usize;
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
        let what = format!("{call}\n  (each sequence's pages, and how many are free)\n ");
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

#[test]
fn task_2_one_text() {
    check_script("task_2_script/one_text");
}

#[test]
fn task_2_texts_in_turns() {
    check_script("task_2_script/in_turns");
}

#[test]
fn task_2_pages_that_are_given_back() {
    check_script("task_2_script/given_back");
}

#[test]
fn task_2_cut_at_the_edge_of_a_page() {
    check_script("task_2_script/to_the_edge");
}

/// All layers and heads, in both types, and pages of one tile and of two.
#[test]
fn task_2_every_layer_and_head_has_its_place() {
    resting_on(&[POOL], || {
        for (page_len, cache_type) in [(TILE, CacheType::F32), (2 * TILE, CacheType::F16)] {
            // Numbers of up to 11 bits, which an f16 holds.
            let mut cache = PagedCache::new(SHAPE, page_len, 6, cache_type);
            let small = |s: usize, layer: usize, position: usize| -> Vec<f32> {
                (0..6).map(|i| (((s * 2 + layer) * 70 + position) * 6 + i) as f32).collect()
            };
            let call = format!("two texts of 70 positions in pages of {page_len}");
            assert_accepts(&call, || {
                for position in 0..70 {
                    for s in [0, 2] {
                        for layer in 0..2 {
                            let keys = small(s / 2, layer, position);
                            cache.write(layer, s, position, &keys, &values(&keys));
                        }
                        cache.advance(s, position);
                    }
                }
            });
            for (s, layer, head) in [(0, 0, 0), (0, 1, 1), (2, 0, 1), (2, 1, 0)] {
                let what = format!("{call}: sequence {s}, layer {layer}, head {head}");
                let runs = cache.runs(layer, s, head, 0..70);
                let found: Vec<f32> = runs.flat_map(|run| numbers(run.keys)).collect();
                let expected: Vec<f32> = (0..70)
                    .flat_map(|p| small(s / 2, layer, p)[head * 3..head * 3 + 3].to_vec())
                    .map(|x| if cache_type == CacheType::F16 { half::f16::from_f32(x).to_f32() } else { x })
                    .collect();
                assert_answer(&what, &found, &expected);
            }
        }
    });
}

/// Runs of ranges that begin and end anywhere.
#[test]
fn task_2_runs_end_with_a_page_or_with_the_range() {
    resting_on(&[POOL], || {
        let mut cache = PagedCache::new(SHAPE, 2 * TILE, 4, CacheType::F32);
        append(&mut cache, 1, 0, 200);
        let ranges: [(Range<usize>, &[(usize, usize)]); 7] = [
            (0..200, &[(0, 64), (64, 64), (128, 64), (192, 8)]),
            (0..64, &[(0, 64)]),
            (5..20, &[(5, 15)]),
            (63..65, &[(63, 1), (64, 1)]),
            (64..65, &[(64, 1)]),
            (70..192, &[(70, 58), (128, 64)]),
            (30..30, &[]),
        ];
        for (range, expected) in ranges {
            let call = format!("pages of 64 positions, runs of {range:?}: start and length");
            let runs: Vec<Run> =
                assert_accepts(&call, || cache.runs(1, 1, 0, range.clone()).collect());
            let found: Vec<(usize, usize)> = runs.iter().map(|run| (run.start, run.len)).collect();
            assert_answer(&call, &found, &expected.to_vec());
            let keys: Vec<f32> = runs.iter().flat_map(|run| numbers(run.keys)).collect();
            let expected: Vec<f32> =
                range.clone().flat_map(|p| (0..3).map(move |d| number(0, 1, 0, p, d))).collect();
            assert_answer(&format!("runs of {range:?}: keys"), &keys, &expected);
        }
        assert_panics("runs of a position that has no page", || cache.runs(0, 0, 0, 0..1).count());
        assert_panics("runs of a layer that is not there", || cache.runs(2, 1, 0, 0..1).count());
        assert_panics("runs of a head that is not there", || cache.runs(0, 1, 2, 0..1).count());
    });
}

#[test]
fn task_2_reserve_takes_what_is_missing() {
    resting_on(&[POOL], || {
        let mut cache = cache(6);
        append(&mut cache, 0, 0, 40);
        let mut done = vec!["40 positions of sequence 0".to_owned()];
        // Sequence, positions; whether there is room, and the pages of both and the free ones then.
        let script: [(usize, usize, bool, [usize; 3]); 10] = [
            (0, 40, true, [2, 0, 4]),
            (0, 10, true, [2, 0, 4]),
            (0, 64, true, [2, 0, 4]),
            (0, 65, true, [3, 0, 3]),
            (0, 96, true, [3, 0, 3]),
            (1, 97, false, [3, 0, 3]),
            (1, 96, true, [3, 3, 0]),
            (0, 96, true, [3, 3, 0]),
            (0, 97, false, [3, 3, 0]),
            (0, 193, false, [3, 3, 0]),
        ];
        for (sequence, len, room, expected) in script {
            done.push(format!("reserve({sequence}, {len})"));
            let call = format!("six pages of 32: {}", done.join(", "));
            let found = assert_accepts(&call, || cache.reserve(sequence, len));
            let pages =
                [cache.table(0).len(), cache.table(1).len(), cache.pool().num_free()];
            assert_answer(
                &format!("{call}: whether there is room; pages of 0, of 1, free"),
                &(found, pages),
                &(room, expected),
            );
        }
        append(&mut cache, 0, 0, 56);
        assert_answer("positions for which there was room take no page", &pages(&cache).1, &0);
        holds("after reserve", &cache, 0, &[0; 96]);
        assert_panics("a position that has no page, and none is free", || {
            cache.write(0, 0, 96, &[0.0; 6], &[0.0; 6]);
        });
        cache.truncate(0, 20);
        assert_answer("pages of 0 and 1 after truncate(0, 20)", &cache.table(0).len(), &1);
        cache.truncate(1, 50);
        let found = (cache.table(1).len(), cache.len(1));
        assert_answer("truncate(1, 50) of a sequence with room, and no positions", &found, &(0, 0));
    });
}

#[test]
fn task_2_a_position_beyond_the_capacity_is_refused() {
    let mut cache = PagedCache::new(SHAPE, TILE, 20, CacheType::F32);
    assert_panics("position 400 of 400", || cache.write(0, 0, 400, &[0.0; 6], &[0.0; 6]));
    let found = assert_accepts("reserve(0, 401) of 400", || cache.reserve(0, 401));
    assert_answer("reserve(0, 401): room in a cache of 400 positions", &found, &false);
}

/// A sequence never holds a whole page more than it uses.
#[test]
fn task_2_less_than_a_page_is_wasted() {
    resting_on(&[POOL], || {
        let (mut cache, mut draws) = (cache(40), Draws(5));
        for done in 0..3000 {
            let sequence = draws.below(3);
            if draws.below(4) == 0 {
                let len = draws.below(cache.len(sequence) + 1);
                cache.truncate(sequence, len);
            } else {
                let n = (1 + draws.below(40)).min(SHAPE.capacity - cache.len(sequence));
                append(&mut cache, sequence, 0, n);
            }
            let used: usize = (0..3).map(|s| cache.len(s)).sum();
            let held: usize = (0..3).map(|s| cache.table(s).len()).sum();
            let bytes = cache.page_bytes() / TILE;
            assert_eq!(bytes, 2 * 2 * 2 * 3 * 4, "bytes of a position, in all layers and heads");
            assert!(
                held * cache.page_bytes() < used * bytes + 3 * cache.page_bytes(),
                "operation {done}: {held} pages for {used} positions of three sequences"
            );
            assert_eq!(cache.pool().num_free() + held, 40, "operation {done}: pages are missing");
        }
    });
}
