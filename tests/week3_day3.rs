//! Week 3, day 3: a pool of pages, a cache in pages, pages that are shared, and who goes when pages
//! run out.
//!
//! Expected tables and contents: `python-ref/oracle/week3_day3.py`.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use tiny_llm::{
    week1::sampling::SamplerOptions,
    week2::{
        cache::{CacheShape, CacheType, Cells, DenseCache, KvCache, Run},
        kernels::{Rung, vector::TILE},
        load::{Rope, build},
        matrix::Matrix,
        model::{Model, Workspace},
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::RopeLayout,
        rows::Row,
    },
    week3::{
        engine::{Engine, EngineOptions, Event},
        paged::PagedCache,
        pool::{BlockPool, Page},
        request::{Request, RequestId},
        room::EngineCache,
    },
};
use tiny_llm_formats::{config::ModelConfig, tensor::tensor};
use tiny_llm_harness::{
    check::{Part, assert_accepts, assert_answer, assert_panics, resting_on},
    fixtures::{Case, Fixtures, random},
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
            let call =
                format!("{pages} pages, {taken} of them taken: can_allocate of 0 to 5 pages");
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
                    assert!(
                        counts[index] == 0,
                        "operation {done}: page {index} is allocated twice"
                    );
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
            let runs: Vec<Run> = assert_accepts(&what, || {
                cache.runs(layer, sequence, head, 0..texts.len()).collect()
            });
            let place = |position: usize| {
                (0..3).map(move |d| number(texts[position], layer, head, position, d))
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
                    .map(|x| {
                        if cache_type == CacheType::F16 {
                            half::f16::from_f32(x).to_f32()
                        } else {
                            x
                        }
                    })
                    .collect();
                assert_answer(&what, &found, &expected);
            }
        }
    });
}

/// Start and length of each.
type Runs = &'static [(usize, usize)];

/// Runs of ranges that begin and end anywhere.
#[test]
fn task_2_runs_end_with_a_page_or_with_the_range() {
    resting_on(&[POOL], || {
        let mut cache = PagedCache::new(SHAPE, 2 * TILE, 4, CacheType::F32);
        append(&mut cache, 1, 0, 200);
        let ranges: [(Range<usize>, Runs); 7] = [
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
            let pages = [cache.table(0).len(), cache.table(1).len(), cache.pool().num_free()];
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

/// Two layers of random weights: four query heads on two key and value heads of 8.
fn model() -> Arc<Model> {
    let json = r#"{"model_type": "llama", "hidden_size": 16, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 24,
        "vocab_size": 50, "hidden_act": "silu", "max_position_embeddings": 256,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true}"#;
    let config = ModelConfig::from_json(json, "config.json").expect("a plain configuration");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let mut seed = 0;
    let mut matrix = |name: &str, shape: &[usize]| {
        seed += 1;
        let norm = name.ends_with("norm.weight");
        let numbers: Vec<f32> = random(seed, shape)
            .iter()
            .map(|x| if norm { 1.0 + 0.2 * x } else { 0.3 * x })
            .collect();
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        Ok(Matrix::from_f32(rows, cols, &numbers))
    };
    Arc::new(build(config, &rope, 256, &mut matrix).expect("every weight is there"))
}

/// Nothing of week 2's later days is needed.
fn plan() -> Plan {
    Plan { kernels: Rung::Naive.into(), attention: AttentionKind::TwoPass, team: Team::new(1) }
}

fn shape_of(model: &Model, sequences: usize) -> CacheShape {
    let c = &model.config;
    CacheShape {
        layers: c.n_layers,
        sequences,
        kv_heads: c.n_kv_heads,
        capacity: 128,
        head_dim: c.head_dim,
    }
}

/// Prompts and steps of two sequences: the logits are the dense cache's, to the last bit.
#[test]
fn task_2_the_model_says_what_it_says_over_one_piece() {
    let (model, plan) = (model(), plan());
    let row = |sequence: usize, position: usize| Row {
        token: ((position * 31 + sequence * 17) % 50) as u32,
        position,
        sequence,
        logits: position.is_multiple_of(5),
    };
    let passes: [Vec<Row>; 3] = [
        (0..70).map(|p| row(0, p)).chain((0..20).map(|p| row(1, p))).collect(),
        vec![row(0, 70), row(1, 20)],
        (21..66).map(|p| row(1, p)).chain([row(0, 71)]).collect(),
    ];
    fn run<C: KvCache>(model: &Model, plan: &Plan, passes: &[Vec<Row>], mut cache: C) -> Vec<f32> {
        let mut work = Workspace::default();
        let logits = |rows: &Vec<Row>| model.forward(rows, &mut cache, plan, &mut work).to_vec();
        passes.iter().flat_map(logits).collect()
    }
    let shape = shape_of(&model, 2);
    let expected = run(&model, &plan, &passes, DenseCache::new(shape, CacheType::F16));
    for page_len in [TILE, 2 * TILE] {
        let call = format!("two texts of 72 and 66 tokens over pages of {page_len}");
        let found = resting_on(&[POOL], || {
            assert_accepts(&call, || {
                let cache = PagedCache::new(shape, page_len, 6, CacheType::F16);
                run(&model, &plan, &passes, cache)
            })
        });
        assert!(found == expected, "{call}: the logits are not those of the dense cache");
    }
}

// Task 3

#[test]
fn task_3_half_a_page_is_shared() {
    check_script("task_3_script/half_a_page");
}

#[test]
fn task_3_whole_pages_are_shared() {
    check_script("task_3_script/whole_pages");
}

#[test]
fn task_3_three_answers_to_one_prompt() {
    check_script("task_3_script/three_answers");
}

#[test]
fn task_3_a_text_is_cut_inside_a_shared_page() {
    check_script("task_3_script/cut_into_what_is_shared");
}

#[test]
fn task_3_the_first_owner_leaves() {
    check_script("task_3_script/the_first_one_leaves");
}

/// Keys and values of every layer and head are copied, and nothing changes for the others.
#[test]
fn task_3_a_copy_holds_what_the_page_held() {
    resting_on(&[POOL], || {
        let mut cache = cache(6);
        append(&mut cache, 0, 0, 40);
        assert_accepts("fork(0, 1) of 40 positions", || cache.fork(0, 1));
        assert_answer("pages copied by fork", &cache.copied(), &0);
        let prompt = vec![0; 40];
        holds("after fork(0, 1)", &cache, 1, &prompt);
        assert_accepts("a position of the fork", || append(&mut cache, 1, 1, 1));
        holds("after the fork's first position", &cache, 0, &prompt);
        holds("after the fork's first position", &cache, 1, &[&prompt[..], &[1]].concat());
        append(&mut cache, 0, 2, 3);
        append(&mut cache, 1, 1, 2);
        holds("after positions of both", &cache, 0, &[&prompt[..], &[2; 3]].concat());
        holds("after positions of both", &cache, 1, &[&prompt[..], &[1; 3]].concat());
        assert_answer("pages copied by positions of both", &cache.copied(), &1);
    });
}

/// What was reserved for the one is nothing of the other's.
#[test]
fn task_3_pages_without_positions_are_not_shared() {
    resting_on(&[POOL], || {
        let mut cache = cache(6);
        append(&mut cache, 0, 0, 40);
        assert!(cache.reserve(0, 128), "four pages of six");
        assert_accepts("fork(0, 2) of 40 positions, with room for 128", || cache.fork(0, 2));
        let what =
            "fork(0, 2) of 40 positions, with room for 128\n  (pages, and how many are free)\n ";
        assert_answer(what, &pages(&cache), &(vec![vec![0, 1, 2, 3], vec![], vec![0, 1]], 2));
    });
}

#[test]
fn task_3_a_place_in_use_is_refused() {
    let mut cache = cache(6);
    append(&mut cache, 0, 0, 5);
    append(&mut cache, 1, 1, 5);
    assert_panics("fork(0, 1), where sequence 1 has positions", || cache.fork(0, 1));
}

/// The page of the copy is a page, too.
#[test]
fn task_3_reserve_counts_the_copy() {
    resting_on(&[POOL], || {
        let mut cache = cache(3);
        append(&mut cache, 0, 0, 40);
        cache.fork(0, 1);
        append(&mut cache, 2, 2, 32);
        // Sequence, positions; whether there is room, and how many pages are free then.
        for (sequence, len, room, free) in
            [(1, 41, false, 0), (0, 41, false, 0), (1, 40, true, 0), (2, 33, false, 0)]
        {
            let call = format!(
                "40 shared positions in two pages of three, and a third sequence in the last: \
                 reserve({sequence}, {len})"
            );
            let found = assert_accepts(&call, || cache.reserve(sequence, len));
            assert_answer(&call, &(found, cache.pool().num_free()), &(room, free));
        }
        assert_panics("a position in a shared page, where no page is free for the copy", || {
            append(&mut cache, 1, 1, 1);
        });
    });
    resting_on(&[POOL], || {
        let mut cache = cache(4);
        append(&mut cache, 0, 0, 40);
        cache.fork(0, 1);
        let call = "40 shared positions in two pages of four: reserve(1, 65)";
        let found = assert_accepts(call, || cache.reserve(1, 65));
        assert_answer(
            call,
            &(found, pages(&cache)),
            &(true, (vec![vec![0, 1], vec![0, 2, 3], vec![]], 0)),
        );
        append(&mut cache, 1, 1, 25);
        assert_answer("pages copied by positions for which there was room", &cache.copied(), &1);
    });
}

/// Whatever happens, each sequence holds what it was given, and no page is lost or lent twice.
#[test]
fn task_3_many_operations() {
    resting_on(&[POOL], || {
        let (mut cache, mut draws) = (cache(20), Draws(7));
        let mut texts: [Vec<usize>; 3] = Default::default();
        for done in 0..4000 {
            let (a, b) = (draws.below(3), draws.below(3));
            let call = format!("operation {done}");
            match draws.below(8) {
                0 if a != b => {
                    cache.truncate(b, 0);
                    assert_accepts(&call, || cache.fork(a, b));
                    texts[b] = texts[a].clone();
                }
                1 | 2 => {
                    let len = draws.below(texts[a].len() + 1);
                    cache.truncate(a, len);
                    texts[a].truncate(len);
                }
                _ => {
                    let n = 1 + draws.below(30);
                    let len = (texts[a].len() + n).min(SHAPE.capacity);
                    if assert_accepts(&call, || cache.reserve(a, len)) {
                        let n = len - texts[a].len();
                        assert_accepts(&call, || append(&mut cache, a, 1 + done % 1000, n));
                        texts[a].resize(len, 1 + done % 1000);
                    }
                }
            }
            // Each page is free, or counted once for each owner.
            let mut owners = [0; 20];
            (0..3).flat_map(|s| cache.table(s)).for_each(|page| owners[page.index()] += 1);
            let free = owners.iter().filter(|count| **count == 0).count();
            assert_eq!(cache.pool().num_free(), free, "operation {done}: {:?}", pages(&cache));
            for page in (0..3).flat_map(|s| cache.table(s)) {
                assert_eq!(
                    cache.pool().num_owners(page),
                    owners[page.index()],
                    "operation {done}: owners of page {}: {:?}",
                    page.index(),
                    pages(&cache)
                );
            }
            for (sequence, texts) in texts.iter().enumerate() {
                let (layer, head) = (draws.below(2), draws.below(2));
                let runs = cache.runs(layer, sequence, head, 0..texts.len());
                let found: Vec<f32> = runs.flat_map(|run| numbers(run.keys)).collect();
                let first = |p: usize| number(texts[p], layer, head, p, 0);
                let wrong = (0..texts.len()).find(|p| found[3 * p] != first(*p));
                assert!(
                    wrong.is_none(),
                    "operation {done}: sequence {sequence}, layer {layer}, head {head}: position \
                     {wrong:?} does not hold what was written there"
                );
            }
        }
    });
}

// Task 4

const CACHE: &Part = &Part { task: "week3-day3 task 2", what: "the cache", check: check_cache };

fn check_cache() {
    task_2_pages_that_are_given_back();
    task_2_reserve_takes_what_is_missing();
    task_2_the_model_says_what_it_says_over_one_piece();
}

/// Four prompts, each to be continued by 60 tokens that are drawn: 80, 93, 70 and 65 positions.
fn requests() -> Vec<Request> {
    let prompt = |i: usize, n: usize| (0..n).map(|p| ((p * 7 + i * 13) % 50) as u32).collect();
    [20, 33, 10, 5]
        .into_iter()
        .enumerate()
        .map(|(i, n)| Request {
            prompt: prompt(i, n),
            max_new_tokens: 60,
            stop_tokens: Vec::new(),
            stop_texts: Vec::new(),
            sampling: SamplerOptions { temperature: 1.0, ..SamplerOptions::default() },
            seed: i as u64,
        })
        .collect()
}

/// What came of the requests.
#[derive(Debug, Default)]
struct Came {
    answers: BTreeMap<RequestId, Vec<u32>>,
    ended: Vec<RequestId>,
    preempted: u64,
    rows: u64,
    gaps: BTreeMap<RequestId, Gap>,
}

/// Between two tokens of a request, in rows of the steps behind the first up to the second.
#[derive(Debug, Default)]
struct Gap {
    tokens: usize,
    last: u64,
    longest: u64,
}

/// Runs the four requests over a cache. After every step, those that run must have come before those
/// that wait.
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
        engine.submit(request).expect("a good request");
    }
    let mut came = Came::default();
    for step in 0.. {
        if engine.is_idle() {
            break;
        }
        assert!(step < steps, "{what}: after {steps} steps somebody still waits: {came:?}");
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
            "{what}: after step {step}, {runs:?} run of {left:?}, which are not done; the youngest is \
             the one to wait, and the first to come back"
        );
    }
    (came.preempted, came.rows) = (engine.counts().preempted, engine.counts().rows);
    // Every place can be taken again.
    for request in &requests()[1..] {
        let (prompt, max_new_tokens) = (request.prompt[..5].to_vec(), 2);
        engine
            .submit(Request { prompt, max_new_tokens, ..request.clone() })
            .expect("a good request");
    }
    assert_accepts(&format!("{what}: then three short ones"), || engine.step(&mut |_| {}));
    assert_eq!(engine.running().len(), 3, "{what}: then three short ones, that run at once");
    (0..20).for_each(|_| engine.step(&mut |_| {}));
    (came, engine)
}

/// The answers are those of a cache that has room for all, whatever the number of pages.
#[test]
fn task_4_nobodys_answer_changes_when_pages_run_out() {
    let model = model();
    let shape = shape_of(&model, 4);
    let (expected, _) = run("over the dense cache", &model, DenseCache::new(shape, CacheType::F16));
    let rows = expected.rows;
    for count in [11, 8, 6, 4, 3] {
        let what =
            format!("four requests of 80, 93, 70 and 65 positions over {count} pages of {TILE}");
        let cache = PagedCache::new(shape, TILE, count, CacheType::F16);
        let (came, engine) = resting_on(&[POOL, CACHE], || run(&what, &model, cache));
        for id in 0..4 {
            assert_answer(
                &format!("{what}: the answer of request {id}"),
                &came.answers.get(&id),
                &expected.answers.get(&id),
            );
        }
        assert_eq!(
            engine.cache().pool().num_free(),
            count,
            "{what}: pages that are free in the end"
        );
        if count == 11 {
            let found = (came.preempted, came.rows);
            assert_eq!(found, (0, rows), "{what}: there is room for all; preempted, rows");
        } else {
            assert!(came.preempted > 0, "{what}: nobody was preempted");
            assert!(came.rows > rows, "{what}: {} rows, and {rows} where there is room", came.rows);
        }
    }
}

/// The same where a step has a budget of rows: whoever is preempted computes its tokens again in
/// pieces, among those that go on. How long it waited stands in its record.
#[test]
fn task_4_preempted_under_a_budget() {
    let model = model();
    let shape = shape_of(&model, 4);
    let (expected, _) = run("over the dense cache", &model, DenseCache::new(shape, CacheType::F16));
    for (count, budget) in [(8, 24), (6, 5), (4, 24), (4, 5), (3, 2)] {
        let what =
            format!("four requests over {count} pages of {TILE}, at most {budget} rows a step");
        let cache = PagedCache::new(shape, TILE, count, CacheType::F16);
        let options =
            EngineOptions { budget: Some(budget), records: true, ..EngineOptions::default() };
        let (came, mut engine) =
            resting_on(&[POOL, CACHE], || run_with(&what, &model, cache, options));
        for id in 0..4 {
            assert_answer(
                &format!("{what}: the answer of request {id}"),
                &came.answers.get(&id),
                &expected.answers.get(&id),
            );
        }
        assert!(came.preempted > 0, "{what}: nobody was preempted");
        assert!(came.rows > expected.rows, "{what}: {} rows, nothing computed again", came.rows);
        let most = engine.counts().most_rows;
        assert!(most <= budget, "{what}: a step of {most} rows");
        assert_eq!(
            engine.cache().pool().num_free(),
            count,
            "{what}: pages that are free at the end"
        );
        let gaps = |id: RequestId| came.gaps.get(&id).map(|gap| gap.longest);
        for (id, record) in engine.take_records().into_iter().filter(|(id, _)| *id < 4) {
            assert_answer(
                &format!("{what}: the longest gap of request {id}, in rows"),
                &Some(record.longest_gap.rows),
                &gaps(id),
            );
        }
    }
}

/// A request that is cancelled after it had to wait again is told of once, and leaves nothing.
#[test]
fn task_4_cancelled_after_it_was_preempted() {
    resting_on(&[POOL, CACHE], || {
        let model = model();
        let cache = PagedCache::new(shape_of(&model, 4), TILE, 4, CacheType::F16);
        let options = EngineOptions::default();
        let bytes = Box::new(|_| Vec::new());
        let mut engine = Engine::new(model, Arc::new(plan()), cache, options, bytes);
        for request in requests() {
            engine.submit(request).expect("a good request");
        }
        let mut ended = Vec::new();
        for step in 0..400 {
            if step == 30 {
                assert!(engine.counts().preempted > 0, "after 30 steps over four pages");
                for id in 1..4 {
                    assert!(engine.cancel(id), "request {id} is not done after 30 steps");
                }
            }
            assert_accepts("four requests over four pages, three of them cancelled", || {
                engine.step(&mut |event| {
                    if let Event::Finished { id, .. } = event {
                        ended.push(id);
                    }
                });
            });
        }
        ended.sort_unstable();
        assert_answer("requests that were told of as finished", &ended, &vec![0, 1, 2, 3]);
        assert_answer("pages that are free in the end", &engine.cache().pool().num_free(), &4);
    });
}

#[cfg(feature = "fresh")]
#[path = "fresh/week3_day3.rs"]
mod fresh;
