//! Week 3, day 5: names of pages, an index of them, a cache that remembers, a prompt in a file.
//!
//! Expected values: `python-ref/oracle/week3_day5.py`; models: `week3_day1.py`.

use std::{collections::BTreeMap, sync::Arc};

use tiny_llm::{
    week1::sampling::{Rng, SamplerOptions},
    week2::{
        cache::{CacheShape, CacheType, Cells, DenseCache, KvCache},
        generate::Session,
        kernels::{Rung, vector::TILE},
        load::{self, Rope},
        matrix::Matrix,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::RopeLayout,
    },
    week3::{
        engine::{Engine, EngineOptions, Event},
        paged::PagedCache,
        pool::{BlockPool, Page},
        prefix_hash::{HashPage, chain, hash_page},
        prefix_index::{PrefixCounts, PrefixIndex},
        prompt_file::{HEADER, PromptKey, checksum, decode, encode, fingerprint, open, save},
        request::{Request, RequestId},
        room::{EngineCache, dense},
        shared::SharedCache,
    },
};
use tiny_llm_formats::config::ModelConfig;
use tiny_llm_harness::{
    check::{self, Part, resting_on},
    fixtures::{Case, Fixtures, Json, random},
};

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day5")
}

fn ids(value: &Json) -> Vec<u32> {
    let list = value.as_array().expect("a list");
    list.iter().map(|id| id.as_u64().expect("a whole number") as u32).collect()
}

/// Numbers of 64 bits are texts in the fixtures.
fn long(value: &Json) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).expect("a whole number")
}

// Task 1

#[test]
fn task_1_the_name_of_a_page() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_hash_page/numbers");
    for row in case.value("rows").as_array().expect("rows") {
        let (before, tokens) = (long(&row[0]), ids(&row[1]));
        let call = format!("hash_page({before}, {tokens:?})");
        let found = check::assert_accepts(&call, || hash_page(before, &tokens));
        check::assert_answer(&call, &found, &long(&row[2]));
    }
}

#[test]
fn task_1_the_names_of_a_text() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_chain/texts");
    for row in case.value("rows").as_array().expect("rows") {
        let (fingerprint, tokens) = (long(&row[0]), ids(&row[1]));
        let page_len = row[2].as_u64().expect("a length") as usize;
        let expected: Vec<u64> = row[3].as_array().expect("names").iter().map(long).collect();
        let call = format!("chain({fingerprint}, {tokens:?}, {page_len}, hash_page)");
        let found =
            check::assert_accepts(&call, || chain(fingerprint, &tokens, page_len, hash_page));
        check::assert_answer(&call, &found, &expected);
    }
}

/// The function that makes names is an argument: with another one, other names.
#[test]
fn task_1_any_hash() {
    let call = "chain(1, [2, 3, 4, 5], 2, |before, tokens| 10 · before + the sum of the tokens)";
    let hash: HashPage =
        |before, tokens| 10 * before + tokens.iter().map(|&t| u64::from(t)).sum::<u64>();
    check::assert_answer(call, &chain(1, &[2, 3, 4, 5], 2, hash), &vec![15, 159]);
}

const NAMES: &Part = &Part {
    task: "week3-day5 task 1",
    what: "the names of pages",
    check: || {
        task_1_the_name_of_a_page();
        task_1_the_names_of_a_text();
    },
};

// Task 2

/// An index over pages of two tokens, a pool, and what lies in each page: the whole text that ends
/// there, as a sequence has computed it.
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

    /// A sequence that computes this text: its pages, of which the index is told. `None` if there
    /// are not enough.
    fn compute(&mut self, text: &[u32]) -> Option<Vec<Page>> {
        let n = text.len() / PAGE;
        if self.pool.num_free() < n {
            return None;
        }
        let mut table = Vec::new();
        for i in 0..n {
            let page = self.pool.allocate().expect("so many are free");
            self.texts[page.index()] = text[..(i + 1) * PAGE].to_vec();
            table.push(page);
        }
        self.index.insert(text, &table, &mut self.pool);
        Some(table)
    }

    fn release(&mut self, table: Vec<Page>) {
        table.into_iter().for_each(|page| self.pool.release(page));
    }

    /// Computes a text, and lets its pages go: the index alone has them then.
    fn leave(&mut self, text: &[u32]) {
        let table = self.compute(text).expect("enough pages");
        self.release(table);
    }

    /// The texts that the pages hold which are found.
    #[track_caller]
    fn found(&mut self, text: &[u32]) -> Vec<Vec<u32>> {
        let found = check::assert_accepts(&format!("find({text:?})"), || self.index.find(text));
        found.into_iter().map(|page| self.texts[page.index()].clone()).collect()
    }
}

#[test]
fn task_2_the_beginning_of_a_text() {
    let mut shelf = Shelf::new(16, hash_page);
    resting_on(&[NAMES], || {
        shelf.leave(&[1, 2, 3, 4, 5, 6]);
        shelf.leave(&[1, 2, 3, 9]);
        for (why, text, found) in [
            ("a longer text that begins so", &[1, 2, 3, 4, 5, 6, 7][..], 3),
            ("the text itself: its last token has to be computed", &[1, 2, 3, 4, 5, 6], 2),
            ("another token in the third page", &[1, 2, 3, 4, 5, 7, 8], 2),
            ("another token in the first page", &[2, 2, 3, 4, 5, 6, 7], 0),
            ("another beginning, and the same page behind it", &[7, 8, 3, 4, 5], 0),
            ("the other text", &[1, 2, 3, 9, 9], 2),
            ("less than a page", &[1], 0),
            ("no text", &[], 0),
            ("a page and a token", &[1, 2, 3], 1),
        ] {
            let expected: Vec<Vec<u32>> = (1..=found).map(|n| text[..n * PAGE].to_vec()).collect();
            check::assert_answer(
                &format!(
                    "after [1, 2, 3, 4, 5, 6] and [1, 2, 3, 9]: {why}, find({text:?}): the \
                 texts that end in the pages that are found"
                ),
                &shelf.found(text),
                &expected,
            );
        }
    });
    check::assert_answer(
        "the pages that the index owns: three of one text, and one more of the other\n ",
        &(shelf.index.len(), shelf.pool.num_free()),
        &(4, 12),
    );
}

#[test]
fn task_2_what_was_asked_and_found() {
    let mut shelf = Shelf::new(16, hash_page);
    shelf.leave(&[1, 2, 3, 4, 5, 6]);
    for text in [&[1, 2, 3, 4, 9][..], &[8, 8], &[1, 2, 3, 4, 5, 6]] {
        shelf.found(text);
    }
    check::assert_answer(
        "texts of 5, 2 and 6 tokens, of which two pages, none and two are known: the counts",
        &shelf.index.counts(),
        &PrefixCounts { asked: 13, found: 8, evicted: 0 },
    );
}

/// Four ways to make names that are good for nothing. Pages must be found by what they hold.
const BAD_HASHES: [(&str, HashPage); 4] = [
    ("always the same name", |_, _| 5),
    ("a name that forgets what came before", |_, tokens| hash_page(0, tokens)),
    ("a name of the tokens' number alone", |before, tokens| before + tokens.len() as u64),
    ("a name of two bits", |before, tokens| hash_page(before, tokens) & 3),
];

/// With any hash, a page that is found holds exactly the text that was asked for.
#[test]
fn task_2_a_collision_is_no_hit() {
    for (why, hash) in BAD_HASHES {
        let mut shelf = Shelf::new(64, hash);
        let mut rng = Rng::new(7);
        let mut below = |n: u64| (rng.next_u64() % n) as usize;
        for _ in 0..400 {
            let text: Vec<u32> = (0..below(9)).map(|_| below(3) as u32).collect();
            let found = shelf.found(&text);
            let expected: Vec<Vec<u32>> =
                (1..=found.len()).map(|n| text[..n * PAGE].to_vec()).collect();
            assert!(
                found == expected,
                "{why}: find({text:?}) returns pages in which other texts end: a collision is \
                 taken for a hit\n  found    {found:?}\n  expected {expected:?}, or the first of \
                 them"
            );
            match below(4) {
                0 => {
                    shelf.index.evict(&mut shelf.pool);
                }
                _ => {
                    if let Some(table) = shelf.compute(&text) {
                        shelf.release(table);
                    }
                }
            }
        }
        while shelf.index.evict(&mut shelf.pool) {}
        assert_eq!(
            shelf.pool.num_free(),
            64,
            "{why}: all sequences have gone and the index has given up all it has: free pages of 64"
        );
    }
}

/// The same, made by hand: two texts whose second pages have one name, because the hash forgets what
/// came before. The first pages have names of their own.
#[test]
fn task_2_the_page_before_counts() {
    let mut shelf = Shelf::new(16, |_, tokens| hash_page(0, tokens));
    shelf.leave(&[1, 2, 8, 8]);
    shelf.leave(&[3, 4]);
    check::assert_answer(
        "a hash that forgets what came before; [1, 2, 8, 8] and [3, 4] are known: the texts in \
         the pages that are found for [3, 4, 8, 8, 9]",
        &shelf.found(&[3, 4, 8, 8, 9]),
        &vec![vec![3, 4]],
    );
}

#[test]
fn task_2_the_longest_unused_goes_first() {
    let mut shelf = Shelf::new(16, hash_page);
    let mut log = Vec::new();
    resting_on(&[NAMES], || {
        for text in [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]] {
            shelf.leave(&text);
        }
        shelf.found(&[1, 1, 1, 1, 0]);
        let known = |shelf: &mut Shelf| -> Vec<usize> {
            [1, 2, 3].map(|t| shelf.found(&[t, t, t, t, 0]).len()).to_vec()
        };
        // Looking for them would use them, so each round begins anew.
        for evictions in 0..=6 {
            let mut shelf = Shelf::new(16, hash_page);
            for text in [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]] {
                shelf.leave(&text);
            }
            shelf.found(&[1, 1, 1, 1, 0]);
            let all: Vec<bool> =
                (0..evictions).map(|_| shelf.index.evict(&mut shelf.pool)).collect();
            log.push((all.iter().all(|x| *x), shelf.pool.num_free(), known(&mut shelf)));
        }
    });
    check::assert_answer(
        "three texts of two pages each, 1, 2 and 3, of which the first was found again; after 0 to \
         6 evictions: whether each found a page, the free pages of 16, and how many pages of each \
         text are left, from its first on",
        &log,
        &vec![
            (true, 10, vec![2, 2, 2]),
            (true, 11, vec![2, 0, 2]),
            (true, 12, vec![2, 0, 2]),
            (true, 13, vec![2, 0, 0]),
            (true, 14, vec![2, 0, 0]),
            (true, 15, vec![1, 0, 0]),
            (true, 16, vec![0, 0, 0]),
        ],
    );
    check::assert_answer(
        "an empty index has nothing to give up",
        &Shelf::new(4, hash_page).index.evict(&mut BlockPool::new(4)),
        &false,
    );
}

#[test]
fn task_2_what_a_sequence_owns_stays() {
    let mut shelf = Shelf::new(8, hash_page);
    resting_on(&[NAMES], || {
        let used = shelf.compute(&[1, 1, 1, 1]).expect("enough pages");
        shelf.leave(&[2, 2]);
        let first = shelf.index.evict(&mut shelf.pool);
        let second = shelf.index.evict(&mut shelf.pool);
        check::assert_answer(
            "a sequence owns the pages of [1, 1, 1, 1], nobody that of [2, 2]: whether a first \
             and a second eviction find a page, and what is left of the texts",
            &(first, second, shelf.found(&[1, 1, 1, 1, 0]).len(), shelf.found(&[2, 2, 0]).len()),
            &(true, false, 2, 0),
        );
        shelf.release(used);
        check::assert_answer(
            "the sequence has let go: two more evictions, and a third\n ",
            &[0; 3].map(|_| shelf.index.evict(&mut shelf.pool)),
            &[true, true, false],
        );
    });
    check::assert_answer("free pages of 8 in the end", &shelf.pool.num_free(), &8);
    check::assert_answer("evictions that found a page", &shelf.index.counts().evicted, &3);
}

/// A sequence that has computed a text again has pages of its own; the index keeps those that it has.
#[test]
fn task_2_the_same_text_again() {
    let mut shelf = Shelf::new(8, hash_page);
    resting_on(&[NAMES], || {
        shelf.leave(&[1, 2, 3, 4]);
        shelf.leave(&[1, 2, 3, 4, 5, 6]);
    });
    check::assert_answer(
        "[1, 2, 3, 4], then [1, 2, 3, 4, 5, 6] in pages of its own: pages in the index, free pages \
         of 8, and what is found for [1, 2, 3, 4, 5, 6, 7]",
        &(shelf.index.len(), shelf.pool.num_free(), shelf.found(&[1, 2, 3, 4, 5, 6, 7]).len()),
        &(3, 5, 3),
    );
}

/// 20,000 random things happen; nothing is found that is not there, all that is there is found, and
/// every page is free or counted once for each owner.
#[test]
fn task_2_any_order_of_things() {
    let mut shelf = Shelf::new(12, hash_page);
    let mut rng = Rng::new(11);
    let mut below = |n: u64| (rng.next_u64() % n) as usize;
    let mut tables: Vec<Vec<Page>> = Vec::new();
    for round in 0..20_000 {
        let text: Vec<u32> = (0..below(9)).map(|_| below(2) as u32).collect();
        match below(5) {
            0 | 1 => tables.extend(shelf.compute(&text)),
            2 if !tables.is_empty() => {
                let table = tables.swap_remove(below(tables.len() as u64));
                shelf.release(table);
            }
            3 => {
                let before = shelf.pool.num_free();
                let evicted = shelf.index.evict(&mut shelf.pool);
                assert_eq!(
                    shelf.pool.num_free() - before,
                    usize::from(evicted),
                    "round {round}: pages that an eviction made free"
                );
            }
            _ => {
                let found = shelf.found(&text);
                let whole = text.len().saturating_sub(1) / PAGE;
                assert!(found.len() <= whole, "round {round}: find({text:?}): {found:?}");
                for (i, found) in found.iter().enumerate() {
                    assert_eq!(
                        found[..],
                        text[..(i + 1) * PAGE],
                        "round {round}: page {i} of {text:?} holds another text"
                    );
                }
            }
        }
        let owned: usize = tables.iter().map(Vec::len).sum::<usize>();
        let mut handles = BTreeMap::<usize, usize>::new();
        for page in tables.iter().flatten() {
            *handles.entry(page.index()).or_default() += 1;
        }
        let shared = tables
            .iter()
            .flatten()
            .filter(|page| shelf.pool.num_owners(page) > handles[&page.index()]);
        let both = shared.map(Page::index).collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(
            shelf.pool.num_free(),
            12 - handles.len() - (shelf.index.len() - both),
            "round {round}: free pages, where sequences have {owned} handles to {} pages, and the \
             index {} pages, {both} of them the same",
            handles.len(),
            shelf.index.len()
        );
    }
}

// Task 3

/// A cache for one layer, one head and three sequences.
fn shared(pages: usize, capacity: usize) -> SharedCache {
    let shape = CacheShape { layers: 1, sequences: 3, kv_heads: 1, capacity, head_dim: 4 };
    SharedCache::new(PagedCache::new(shape, TILE, pages, CacheType::F32), 1, hash_page)
}

/// Computes tokens of a sequence: what is written for a token is the token.
fn compute(cache: &mut SharedCache, sequence: usize, tokens: &[u32]) {
    let start = cache.len(sequence);
    assert!(cache.reserve(sequence, tokens.len()), "room for {} tokens", tokens.len());
    for (position, &token) in tokens.iter().enumerate().skip(start) {
        cache.write(0, sequence, position, &[token as f32; 4], &[token as f32; 4]);
        cache.advance(sequence, position);
    }
    cache.remember(sequence, tokens);
}

/// The tokens that a sequence's positions hold.
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

const INDEX: &Part = &Part {
    task: "week3-day5 task 2",
    what: "the index",
    check: || {
        task_2_the_beginning_of_a_text();
        task_2_the_longest_unused_goes_first();
        task_2_what_a_sequence_owns_stays();
    },
};

#[test]
fn task_3_found_again() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(12, 256);
        compute(&mut cache, 0, &text(100, 3 * TILE + 5));
        let free = cache.pages().pool().num_free();
        for (why, other, expected) in [
            ("the same text and more", text(100, 3 * TILE + 20), 3 * TILE),
            ("the same text", text(100, 3 * TILE + 5), 3 * TILE),
            ("three pages of it, to the last token", text(100, 3 * TILE), 2 * TILE),
            ("half of it", text(100, TILE + 16), TILE),
            ("another text", text(101, 3 * TILE), 0),
        ] {
            let call = format!("{} tokens were computed, then {why} comes", 3 * TILE + 5);
            let found = check::assert_accepts(&call, || cache.attach_prefix(1, &other));
            check::assert_answer(
                &format!("{call}: positions that it begins with, and the free pages"),
                &(found, cache.len(1), cache.pages().pool().num_free()),
                &(expected, expected, free),
            );
            check::assert_answer(
                &format!("{call}: the tokens that these positions hold"),
                &held(&cache, 1),
                &other[..expected].to_vec(),
            );
            cache.truncate(1, 0);
        }
    });
}

/// Pages are remembered when the sequence that filled them has gone, and while it goes on.
#[test]
fn task_3_remembered_page_by_page() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(12, 256);
        let whole = text(500, 3 * TILE + 1);
        let mut known = Vec::new();
        for len in [TILE - 1, TILE, TILE + 1, 2 * TILE + 3, 3 * TILE + 1] {
            compute(&mut cache, 0, &whole[..len]);
            known.push((len, cache.index().len()));
        }
        check::assert_answer(
            "a text that grows: tokens computed, pages in the index\n ",
            &known,
            &vec![(TILE - 1, 0), (TILE, 1), (TILE + 1, 1), (2 * TILE + 3, 2), (3 * TILE + 1, 3)],
        );
        cache.truncate(0, 0);
        check::assert_answer(
            "the sequence has gone: free pages of 12, and what another one begins with\n ",
            &(cache.pages().pool().num_free(), cache.attach_prefix(2, &whole)),
            &(9, 3 * TILE),
        );
    });
}

/// A slot is used again by another text: nothing of the first may be taken for the second's.
#[test]
fn task_3_a_slot_is_used_again() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(12, 256);
        compute(&mut cache, 0, &text(100, 2 * TILE));
        cache.truncate(0, 0);
        let other = text(900, 2 * TILE + 4);
        check::assert_answer("another text begins", &cache.attach_prefix(0, &other), &0);
        compute(&mut cache, 0, &other);
        cache.truncate(0, 0);
        for (why, text) in [("the first", text(100, 2 * TILE + 1)), ("the second", other)] {
            check::assert_answer(
                &format!("two texts were computed in one slot; then {why} comes again"),
                &(cache.attach_prefix(1, &text), held(&cache, 1)),
                &(2 * TILE, text[..2 * TILE].to_vec()),
            );
            cache.truncate(1, 0);
        }
    });
}

#[test]
fn task_3_pages_go_where_room_is_needed() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(6, 256);
        compute(&mut cache, 0, &text(100, 2 * TILE));
        cache.truncate(0, 0);
        compute(&mut cache, 0, &text(300, 2 * TILE));
        cache.truncate(0, 0);
        check::assert_answer(
            "two texts of two pages each in six pages, both gone: free pages, pages in the index\n ",
            &(cache.pages().pool().num_free(), cache.index().len()),
            &(2, 4),
        );
        let reserved = cache.reserve(1, 3 * TILE);
        check::assert_answer(
            "room for three pages is asked for: whether there is, the pages that the index still \
             has, and how many it gave up\n ",
            &(reserved, cache.index().len(), cache.index().counts().evicted),
            &(true, 3, 1),
        );
        check::assert_answer(
            "the text that was used last is still there, of the other its first page\n ",
            &(cache.attach_prefix(2, &text(300, 2 * TILE + 1)), cache.index().len()),
            &(2 * TILE, 3),
        );
        let more = cache.reserve(1, 5 * TILE);
        check::assert_answer(
            "sequence 2 has two of the six pages, sequence 1 three; it asks for five: whether there \
             is room, and how many pages sequence 1 then has\n ",
            &(more, cache.pages().table(1).len(), cache.len(2)),
            &(false, 3, 2 * TILE),
        );
    });
}

/// What can never be reserved costs nobody a page.
#[test]
fn task_3_beyond_the_capacity() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(6, 3 * TILE);
        compute(&mut cache, 0, &text(100, 2 * TILE));
        cache.truncate(0, 0);
        check::assert_answer(
            "a sequence may have three pages of six; room for four is asked for: whether there is, \
             and the pages in the index\n ",
            &(cache.reserve(1, 4 * TILE), cache.index().len()),
            &(false, 2),
        );
    });
}

fn model(family: &str) -> Arc<Model> {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case(&format!("task_4_engine/{family}"));
    let config =
        ModelConfig::from_json(&case.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let model = load::build(config, &rope, usize::MAX, &mut |name, shape| {
        let weight = case.tensor(name);
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        let values: Vec<f32> = weight.iter().copied().collect();
        Ok(Matrix::from_f32(rows, cols, &values))
    });
    Arc::new(model.expect("all weights are there"))
}

fn plan() -> Arc<Plan> {
    // Nothing of week 2's later days is needed.
    let attention = AttentionKind::TwoPass;
    Arc::new(Plan { kernels: Rung::Naive.into(), attention, team: Team::new(1) })
}

fn engine<C: EngineCache>(model: &Arc<Model>, cache: C) -> Engine<C> {
    let bytes = Box::new(|token: u32| format!("<{token}>").into_bytes());
    Engine::new(Arc::clone(model), plan(), cache, EngineOptions::default(), bytes)
}

fn request(prompt: &[u32], max_new_tokens: usize) -> Request {
    Request {
        prompt: prompt.to_vec(),
        max_new_tokens,
        stop_tokens: Vec::new(),
        stop_texts: Vec::new(),
        sampling: SamplerOptions { temperature: 0.0, ..SamplerOptions::default() },
        seed: 0,
    }
}

/// Runs requests to their ends.
#[track_caller]
fn answers<C: EngineCache>(engine: &mut Engine<C>, requests: &[Request]) -> Vec<Vec<u32>> {
    let ids: Vec<RequestId> = requests
        .iter()
        .map(|request| engine.submit(request.clone()).expect("a good request"))
        .collect();
    let mut answers = BTreeMap::<RequestId, Vec<u32>>::new();
    for _ in 0..2000 {
        if engine.is_idle() {
            return ids.iter().map(|id| answers.remove(id).unwrap_or_default()).collect();
        }
        engine.step(&mut |event| {
            if let Event::Token { id, token } = event {
                answers.entry(id).or_default().push(token);
            }
        });
    }
    panic!("after 2000 steps something is still waiting or running");
}

fn pages_of(model: &Model, sequences: usize, pages: usize) -> PagedCache {
    let c = &model.config;
    let shape = CacheShape {
        layers: c.n_layers,
        sequences,
        kv_heads: c.n_kv_heads,
        capacity: 96,
        head_dim: c.head_dim,
    };
    PagedCache::new(shape, TILE, pages, CacheType::F32)
}

/// A prompt of so many tokens of the model.
fn prompt(seed: u64, len: usize) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| (rng.next_u64() % 37) as u32).collect()
}

/// Requests with a common beginning: it is computed once, and the answers are those of a cache that
/// remembers nothing, to the last token.
#[test]
fn task_3_the_engine_computes_a_prefix_once() {
    resting_on(&[NAMES, INDEX], || {
        let model = model("llama");
        let system = prompt(1, 70);
        let requests: Vec<Request> = (0..5)
            .map(|i| request(&[&system[..], &prompt(50 + i, 4 + i as usize)].concat(), 6))
            .collect();
        let mut alone = engine(&model, dense(&model, 5, 96, CacheType::F32));
        let expected = answers(&mut alone, &requests);
        let mut engine = engine(&model, SharedCache::new(pages_of(&model, 5, 24), 1, hash_page));
        let mut found = answers(&mut engine, &requests[..1]);
        found.extend(answers(&mut engine, &requests[1..]));
        check::assert_answer(
            "five requests with a common beginning of 70 tokens, the first of them before the \
             others: the answers, which are those of a cache that remembers nothing\n ",
            &found,
            &expected,
        );
        // Two full pages of the 70 tokens.
        check::assert_answer(
            "the same: positions that four of the five found, and rows that were computed less\n ",
            &(engine.attached(), alone.counts().rows - engine.counts().rows),
            &(4 * 2 * TILE as u64, 4 * 2 * TILE as u64),
        );
    });
}

/// Random requests with common beginnings, few pages, and hashes that are good for nothing: the
/// answers never change.
#[test]
fn task_3_any_load_gives_the_same_answers() {
    resting_on(&[NAMES, INDEX], || {
        let model = model("llama");
        let hashes: Vec<HashPage> =
            BAD_HASHES.iter().map(|(_, hash)| *hash).chain([hash_page as HashPage]).collect();
        for seed in 0..6u64 {
            let mut rng = Rng::new(seed);
            let mut below = |n: u64| rng.next_u64() % n;
            let requests: Vec<Request> = (0..8)
                .map(|_| {
                    let whole = prompt(below(2), 90);
                    let common = below(80) as usize;
                    let own = prompt(100 + below(3), 1 + below(8) as usize);
                    request(&[&whole[..common], &own].concat(), below(7) as usize)
                })
                .collect();
            let sequences = 1 + below(3) as usize;
            let pages = 3 + below(6) as usize;
            let mut alone = engine(&model, dense(&model, 1, 96, CacheType::F32));
            let expected = answers(&mut alone, &requests);
            let hash = hashes[below(hashes.len() as u64) as usize];
            let cache = SharedCache::new(pages_of(&model, sequences, pages), seed, hash);
            let mut engine = engine(&model, cache);
            let mut found = Vec::new();
            for some in requests.chunks(1 + below(4) as usize) {
                found.extend(answers(&mut engine, some));
            }
            check::assert_answer(
                &format!(
                    "seed {seed}: eight requests, at most {sequences} at once, {pages} pages: the \
                     answers, which are those of a cache that remembers nothing\n "
                ),
                &found,
                &expected,
            );
        }
    });
}

// Task 4

/// The cache of a case, dense or in pages, and the key of its file.
fn stored(case: &Case, kind: CacheType) -> (DenseCache, PagedCache, PromptKey) {
    let cells = case.tensor("cells");
    let [layers, _, heads, n, dim] = *cells.shape() else { panic!("five axes") };
    let shape = CacheShape { layers, sequences: 2, kv_heads: heads, capacity: 8, head_dim: dim };
    let mut dense = DenseCache::new(shape, kind);
    let mut paged = PagedCache::new(shape, TILE, 4, kind);
    for position in 0..n {
        for layer in 0..layers {
            let row = |which: usize| -> Vec<f32> {
                let number = |i: usize| cells[[layer, which, i / dim, position, i % dim]];
                (0..heads * dim).map(number).collect()
            };
            dense.write(layer, 1, position, &row(0), &row(1));
            paged.write(layer, 1, position, &row(0), &row(1));
        }
        dense.advance(1, position);
        paged.advance(1, position);
    }
    (dense, paged, PromptKey::new(long(case.value("fingerprint")), kind, shape))
}

fn bytes_of(case: &Case) -> Vec<u8> {
    let text = case.value("file").as_str().expect("hexadecimal digits").to_owned();
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

const KINDS: [(&str, CacheType); 2] = [("f32", CacheType::F32), ("f16", CacheType::F16)];

#[test]
fn task_4_the_file_byte_by_byte() {
    let fixtures = fixtures();
    for (name, kind) in KINDS {
        let case = fixtures.case(&format!("task_4_file/{name}"));
        let (dense, paged, key) = stored(&case, kind);
        let tokens = ids(case.value("tokens"));
        let expected = bytes_of(&case);
        let call = format!("encode five positions of an {name} cache");
        let found = check::assert_accepts(&call, || encode(&dense, 1, &tokens, key));
        if found != expected {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            let part = |bytes: &[u8]| bytes[at / 4 * 4..bytes.len().min(at / 4 * 4 + 16)].to_vec();
            let about = format!(
                "{call}: {} bytes, expected {}; the first that differs is number {at}",
                found.len(),
                expected.len()
            );
            check::assert_answer(&about, &part(&found), &part(&expected));
        }
        let found = check::assert_accepts(&call, || encode(&paged, 1, &tokens, key));
        assert!(found == expected, "{call} in pages: another file than that of a dense cache");
        check::assert_panics("six tokens of a cache with five positions", || {
            encode(&dense, 1, &[0; 6], key)
        });
    }
}

/// All numbers of a sequence, as they are stored.
fn numbers(cache: &impl KvCache, sequence: usize) -> Vec<f32> {
    let CacheShape { layers, kv_heads, .. } = cache.shape();
    let mut all = Vec::new();
    let mut append = |cells: Cells<'_>| match cells {
        Cells::F32(x) => all.extend_from_slice(x),
        Cells::F16(x) => all.extend(x.iter().map(|x| x.to_f32())),
    };
    for (layer, head) in (0..layers).flat_map(|l| (0..kv_heads).map(move |h| (l, h))) {
        for run in cache.runs(layer, sequence, head, 0..cache.len(sequence)) {
            append(run.keys);
            append(run.values);
        }
    }
    all
}

#[test]
fn task_4_restored_as_it_was() {
    let fixtures = fixtures();
    for (name, kind) in KINDS {
        let case = fixtures.case(&format!("task_4_file/{name}"));
        let (dense, _, key) = stored(&case, kind);
        let file = bytes_of(&case);
        let prompt =
            check::assert_accepts(&format!("decode the {name} file"), || decode(&file, key));
        let prompt = prompt.unwrap_or_else(|error| panic!("decode the {name} file: {error:#}"));
        check::assert_answer("the tokens", &prompt.tokens, &ids(case.value("tokens")));
        for n in [5, 3, 0] {
            let mut expected = dense.clone();
            expected.truncate(1, n);
            let mut found = DenseCache::new(dense.shape(), kind);
            let call = format!("restore {n} positions of the {name} file into sequence 0");
            check::assert_accepts(&call, || prompt.restore(&mut found, 0, n));
            check::assert_answer(&format!("{call}: positions"), &found.len(0), &n);
            assert!(
                numbers(&found, 0) == numbers(&expected, 1),
                "{call}: other numbers than those that were stored\n  found    {:?}\n  expected \
                 {:?}",
                numbers(&found, 0),
                numbers(&expected, 1)
            );
            // A part of what the cache holds is a file, too.
            let part = encode(&dense, 1, &prompt.tokens[..n], key);
            let part = decode(&part, key);
            let call = format!("{call}, which were encoded without the others");
            let part = part.unwrap_or_else(|error| panic!("{call}: {error:#}"));
            let mut found = DenseCache::new(dense.shape(), kind);
            part.restore(&mut found, 0, n);
            assert!(numbers(&found, 0) == numbers(&expected, 1), "{call}: other numbers");
            let mut paged = PagedCache::new(dense.shape(), TILE, 4, kind);
            prompt.restore(&mut paged, 1, n);
            assert!(numbers(&paged, 1) == numbers(&expected, 1), "{call}, in pages: other numbers");
        }
    }
}

#[test]
fn task_4_as_much_as_is_in_common() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_file/f32");
    let (_, _, key) = stored(&case, CacheType::F32);
    let file = bytes_of(&case);
    let prompt = decode(&file, key).unwrap_or_else(|error| panic!("a good file: {error:#}"));
    for (why, text, expected) in [
        ("the same prompt: its last token has to be computed", &[12, 0, 36, 36, 5][..], 4),
        ("a longer one", &[12, 0, 36, 36, 5, 9], 5),
        ("a shorter one", &[12, 0, 36], 2),
        ("another token in the middle", &[12, 0, 35, 36, 5, 9], 2),
        ("another first token", &[11, 0, 36, 36, 5], 0),
        ("no tokens", &[], 0),
        ("a single token", &[12], 0),
    ] {
        let call = format!("a file of [12, 0, 36, 36, 5], {why}: in_common({text:?})");
        let found = check::assert_accepts(&call, || prompt.in_common(text));
        check::assert_answer(&call, &found, &expected);
    }
}

fn refused(bytes: &[u8], key: PromptKey, what: &str) -> String {
    let decoded = check::assert_accepts(what, || decode(bytes, key).map(|prompt| prompt.tokens));
    match decoded {
        Ok(tokens) => panic!("{what}: it was taken, with the tokens {tokens:?}"),
        Err(error) => format!("{error:#}"),
    }
}

/// Any bit of the file may be another one.
#[test]
fn task_4_every_bit_counts() {
    let fixtures = fixtures();
    for (name, kind) in KINDS {
        let case = fixtures.case(&format!("task_4_file/{name}"));
        let (_, _, key) = stored(&case, kind);
        let file = bytes_of(&case);
        for bit in 0..8 * file.len() {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let what = format!("the {name} file with bit {} of byte {} changed", bit % 8, bit / 8);
            refused(&damaged, key, &what);
        }
    }
}

/// And it may end anywhere, or go on.
#[test]
fn task_4_every_length_counts() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_file/f16");
    let (_, _, key) = stored(&case, CacheType::F16);
    let file = bytes_of(&case);
    for len in 0..file.len() {
        refused(&file[..len], key, &format!("the first {len} bytes of {}", file.len()));
    }
    refused(&[&file[..], &[0; 8]].concat(), key, "the file and eight zeros");
    // A length that no file has, with a checksum that is right.
    let mut damaged = file.clone();
    damaged[36..40].copy_from_slice(&u32::MAX.to_le_bytes());
    let body = damaged.len() - 8;
    let sum = checksum(&damaged[..body]);
    damaged[body..].copy_from_slice(&sum.to_le_bytes());
    refused(&damaged, key, "4294967295 tokens, and a checksum that is right");
}

/// What fits another run is told by name, in the order of the file.
#[test]
fn task_4_of_something_else() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_file/f16");
    let (_, _, key) = stored(&case, CacheType::F16);
    let file = bytes_of(&case);
    let with = |at: usize, number: u32| {
        let mut other = file.clone();
        other[at..at + 4].copy_from_slice(&number.to_le_bytes());
        other
    };
    for (what, bytes, key, words) in [
        (
            "not such a file",
            b"GGUF and other things, more than 48 bytes in all.".to_vec(),
            key,
            vec!["magic|keys and values"],
        ),
        ("version 2", with(8, 2), key, vec!["version", "2", "1"]),
        ("a third cache type", with(12, 2), key, vec!["cache type", "2"]),
        (
            "an f32 cache",
            file.clone(),
            PromptKey { cache_type: CacheType::F32, ..key },
            vec!["f16", "f32"],
        ),
        (
            "another model",
            file.clone(),
            PromptKey { fingerprint: 3, ..key },
            vec!["fingerprint", "0123456789abcdef"],
        ),
        (
            "another number of layers",
            file.clone(),
            PromptKey { layers: 7, ..key },
            vec!["layers", "2", "7"],
        ),
        (
            "another number of heads",
            file.clone(),
            PromptKey { kv_heads: 7, ..key },
            vec!["heads", "3", "7"],
        ),
        ("heads of another size", file.clone(), PromptKey { head_dim: 8, ..key }, vec!["4", "8"]),
        ("one token more", with(36, 6), key, vec!["bytes", "6 tokens"]),
        ("another token", with(HEADER, 11), key, vec!["checksum"]),
    ] {
        let error = refused(&bytes, key, what);
        for word in words {
            assert!(
                word.split('|').any(|word| error.contains(word)),
                "{what}: the error {error:?} does not say {word:?}"
            );
        }
    }
}

/// A model goes on from a file as if it had computed the prompt itself, to the last bit.
#[test]
fn task_4_a_model_goes_on() {
    let model = model("qwen3");
    let session = || Session::new(Arc::clone(&model), plan(), 64, CacheType::F16);
    let shape = session().cache().shape();
    let key = PromptKey::new(fingerprint(&model, "naive"), CacheType::F16, shape);
    let (text, longer) = (prompt(3, 40), [prompt(3, 40), prompt(4, 9)].concat());
    let mut first = session();
    first.feed(&text, 16).expect("it fits");
    let folder = std::env::temp_dir().join(format!("tiny-llm-week3-day5-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("prompt.cache");
    assert!(
        open(&path, key, |_| ()).expect("no file is no error").is_none(),
        "there is no file yet"
    );
    save(&path, &encode(first.cache(), 0, &text, key)).expect("it can be written");
    for (why, text, common) in [("the same prompt", &text, 39), ("a longer one", &longer, 40)] {
        let mut alone = session();
        let expected = alone.feed(text, 16).expect("it fits").to_vec();
        let mut found = session();
        let n = open(&path, key, |prompt| {
            let n = prompt.in_common(text);
            found.restore(&text[..n], |cache| prompt.restore(cache, 0, n));
            n
        });
        let n = n.expect("a good file").expect("it is there");
        let logits = found.feed(&text[n..], 16).expect("it fits").to_vec();
        check::assert_answer(&format!("{why}: positions that are in common"), &n, &common);
        check::assert_answer(
            &format!("{why}: positions that were restored, and computed\n "),
            &found.cache().computed(),
            &text.len(),
        );
        assert!(logits == expected, "{why}: other logits than if it had been computed");
    }
    // Another model, or other kernels.
    let other = PromptKey { fingerprint: fingerprint(&model, "integer"), ..key };
    assert!(other != key, "a fingerprint tells how a model is run");
    let error = open(&path, other, |_| ()).expect_err("another fingerprint");
    assert!(format!("{error:#}").contains("prompt.cache"), "{error:#}");
    let _ = std::fs::remove_dir_all(&folder);
}

/// Any other weight is another model.
#[test]
fn task_4_fingerprints() {
    let one = fingerprint(&model("llama"), "");
    let c = &model("llama").config;
    let shape = CacheShape {
        layers: c.n_layers,
        sequences: 1,
        kv_heads: c.n_kv_heads,
        capacity: 8,
        head_dim: c.head_dim,
    };
    let cache = DenseCache::new(shape, CacheType::F16);
    let key = |fingerprint| PromptKey::new(fingerprint, CacheType::F16, shape);
    let file = encode(&cache, 0, &[], key(one));
    assert!(decode(&file, key(one)).is_ok(), "a file of the same model");
    assert!(decode(&file, key(one ^ 1)).is_err(), "a file of another one");
    assert_eq!(one, fingerprint(&model("llama"), ""), "the same model twice");
    assert_ne!(one, fingerprint(&model("qwen3"), ""), "two models");
    let mut changed = Model::clone(&model("llama"));
    changed.layers[1].mlp_norm[3] += 1e-6;
    assert_ne!(one, fingerprint(&changed, ""), "a norm");
    let mut changed = Model::clone(&model("llama"));
    let old = &changed.layers[2].o_proj.weight;
    let (rows, cols) = (old.rows, old.cols);
    let numbers: Vec<f32> = random(1, &[rows, cols]).iter().copied().collect();
    changed.layers[2].o_proj.weight = Matrix::from_f32(rows, cols, &numbers);
    assert_ne!(one, fingerprint(&changed, ""), "a matrix");
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day5.rs"]
mod fresh;
