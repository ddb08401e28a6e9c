//! Week 3, day 5: names of pages, an index of pages, a prefix cache, a prompt in a file.
//!
//! Expected values: `python-ref/oracle/week3_day5.py`; models: `week3_day1.py`.

use std::sync::Arc;

use tiny_llm::{
    week1::sampling::Rng,
    week2::{
        cache::{CacheShape, CacheType, Cells, KvCache},
        kernels::vector::TILE,
        matrix::Matrix,
        model::Model,
        plan::Plan,
    },
    week3::{
        paged::PagedCache,
        pool::{BlockPool, Page},
        prefix_hash::{HashPage, hash_page},
        prefix_index::PrefixIndex,
        room::EngineCache,
        shared::SharedCache,
    },
};
use tiny_llm_harness::{
    check::{self, Part},
    fixtures::Fixtures,
};

use task_1::{task_1_chain_hashes_each_full_page, task_1_hash_page_matches_fnv_1a};

#[path = "week3_day5/edges.rs"]
mod edges;
#[path = "parts/models.rs"]
mod models;
#[path = "week3_day5/moments.rs"]
mod moments;
#[path = "week3_day5/task_1.rs"]
mod task_1;
#[path = "week3_day5/task_2.rs"]
mod task_2;
#[path = "week3_day5/task_3.rs"]
mod task_3;
#[path = "week3_day5/task_4.rs"]
mod task_4;
#[path = "week3_day5/task_4_models.rs"]
mod task_4_models;

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day5")
}

/// Returns a 64-bit number, which is a string in the fixtures.
fn long(text: &str) -> u64 {
    text.parse().expect("a whole number")
}

const NAMES: &Part = &Part {
    task: "week3-day5 task 1",
    what: "the names of pages",
    check: || {
        task_1_hash_page_matches_fnv_1a();
        task_1_chain_hashes_each_full_page();
    },
};

/// An index of pages of two tokens, a pool, and for each page the text up to the page's end.
struct Shelf {
    index: PrefixIndex,
    pool: BlockPool,
    texts: Vec<Vec<u32>>,
}

const PAGE: usize = 2;

impl Shelf {
    fn new(pages: usize, hash: HashPage) -> Self {
        Self {
            index: PrefixIndex::new(77, PAGE, hash),
            pool: BlockPool::new(pages),
            texts: vec![Vec::new(); pages],
        }
    }

    /// Allocates pages for `text` and inserts them into the index, as a sequence does. Returns the
    /// pages, or `None` if too few are free.
    fn compute(&mut self, text: &[u32]) -> Option<Vec<Page>> {
        let n = text.len() / PAGE;
        if self.pool.num_free() < n {
            return None;
        }
        let mut table = Vec::new();
        for i in 0..n {
            let page =
                self.pool.allocate().expect("allocate must return a page, because enough are free");
            self.texts[page.index()] = text[..(i + 1) * PAGE].to_vec();
            table.push(page);
        }
        self.index.insert(text, &table, &mut self.pool);
        Some(table)
    }

    fn release(&mut self, table: Vec<Page>) {
        table.into_iter().for_each(|page| self.pool.release(page));
    }

    /// Computes `text` and releases its pages, so that only the index owns them.
    fn leave(&mut self, text: &[u32]) {
        let table =
            self.compute(text).expect("allocate must return a page, because enough are free");
        self.release(table);
    }

    /// Returns the text of each page that `find` returns.
    #[track_caller]
    fn found(&mut self, text: &[u32]) -> Vec<Vec<u32>> {
        let found = check::assert_accepts(&format!("find({text:?})"), || self.index.find(text));
        found.into_iter().map(|page| self.texts[page.index()].clone()).collect()
    }
}

/// Four hash functions with many collisions. Pages must be found by their contents anyway.
const BAD_HASHES: [(&str, HashPage); 4] = [
    ("always the same name", |_, _| 5),
    ("a name that ignores the pages before", |_, tokens| hash_page(0, tokens)),
    ("a name that depends only on the number of tokens", |before, tokens| {
        before + tokens.len() as u64
    }),
    ("a name of two bits", |before, tokens| hash_page(before, tokens) & 3),
];

/// Returns a cache for one layer, one head and three sequences.
fn shared(pages: usize, capacity: usize) -> SharedCache {
    let shape = CacheShape { layers: 1, sequences: 3, kv_heads: 1, capacity, head_dim: 4 };
    SharedCache::new(PagedCache::new(shape, TILE, pages, CacheType::F32), 1, hash_page)
}

/// Computes a sequence up to the end of `tokens`. The keys and values of a token are its id.
fn compute(cache: &mut SharedCache, sequence: usize, tokens: &[u32]) {
    let start = cache.len(sequence);
    assert!(
        cache.reserve(sequence, tokens.len()),
        "reserve must return true for {} tokens",
        tokens.len()
    );
    for (position, &token) in tokens.iter().enumerate().skip(start) {
        cache.write(0, sequence, position, &[token as f32; 4], &[token as f32; 4]);
        cache.advance(sequence, position);
    }
    cache.remember(sequence, tokens);
}

/// Returns the tokens that a sequence's positions hold.
fn held(cache: &SharedCache, sequence: usize) -> Vec<u32> {
    let mut tokens = Vec::new();
    for run in cache.runs(0, sequence, 0, 0..cache.len(sequence)) {
        let Cells::F32(keys) = run.keys else { panic!("an f32 cache") };
        tokens.extend(keys.chunks(4).map(|key| key[0] as u32));
    }
    tokens
}

fn text(first: u32, len: usize) -> Vec<u32> {
    (first..).take(len).collect()
}

fn model(family: &str) -> Arc<Model> {
    let case = Fixtures::open("week3_day1").case(&format!("task_4_engine/{family}"));
    Arc::new(models::of_case(&case, Matrix::from_f32))
}

fn plan() -> Arc<Plan> {
    Arc::new(models::plan())
}

/// Returns a prompt of `len` random tokens.
fn prompt(seed: u64, len: usize) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| (rng.next_u64() % 37) as u32).collect()
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day5.rs"]
mod fresh;
