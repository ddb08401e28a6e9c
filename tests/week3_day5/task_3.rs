//! Week 3, day 5, task 3: a prefix cache.

use std::{collections::BTreeMap, sync::Arc};

use tiny_llm::{
    week1::sampling::Rng,
    week2::{
        cache::{CacheShape, CacheType, KvCache},
        kernels::vector::TILE,
        model::Model,
    },
    week3::{
        engine::{Engine, Event},
        options::EngineOptions,
        paged::PagedCache,
        prefix_hash::{HashPage, hash_page},
        request::{Request, RequestId},
        room::{EngineCache, dense},
        shared::SharedCache,
    },
};
use tiny_llm_harness::check::{self, Part, resting_on};

use super::{
    BAD_HASHES, NAMES, compute, held, model, plan, prompt, shared,
    task_2::{
        task_2_evict_spares_pages_owned_by_a_sequence,
        task_2_evicts_least_recently_used_page_first, task_2_find_returns_the_longest_known_prefix,
    },
    text,
};

const INDEX: &Part = &Part {
    task: "week3-day5 task 2",
    what: "the index",
    check: || {
        task_2_find_returns_the_longest_known_prefix();
        task_2_evicts_least_recently_used_page_first();
        task_2_evict_spares_pages_owned_by_a_sequence();
    },
};

#[test]
fn task_3_attach_prefix_finds_computed_pages() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(12, 256);
        compute(&mut cache, 0, &text(100, 3 * TILE + 5));
        let free = cache.pages().pool().num_free();
        for (why, other, expected) in [
            ("the same text and more", text(100, 3 * TILE + 20), 3 * TILE),
            ("the same text", text(100, 3 * TILE + 5), 3 * TILE),
            ("exactly its first three pages", text(100, 3 * TILE), 2 * TILE),
            ("half of it", text(100, TILE + 16), TILE),
            ("another text", text(101, 3 * TILE), 0),
        ] {
            let call =
                format!("{} tokens were computed, then attach_prefix with {why}", 3 * TILE + 5);
            let found = check::assert_accepts(&call, || cache.attach_prefix(1, &other));
            check::assert_answer(
                &format!("{call}: (return value, length, free pages)"),
                &(found, cache.len(1), cache.pages().pool().num_free()),
                &(expected, expected, free),
            );
            check::assert_answer(
                &format!("{call}: the tokens at these positions"),
                &held(&cache, 1),
                &other[..expected].to_vec(),
            );
            cache.truncate(1, 0);
        }
    });
}

/// Pages are in the index while their sequence runs, and stay there after it ends.
#[test]
fn task_3_full_pages_are_indexed_as_the_text_grows() {
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
            "the sequence ended: (free pages of 12, positions attached to another sequence)\n ",
            &(cache.pages().pool().num_free(), cache.attach_prefix(2, &whole)),
            &(9, 3 * TILE),
        );
    });
}

/// A second text reuses a slot. Nothing of the first text may be mistaken for it.
#[test]
fn task_3_reused_slot_does_not_mix_texts() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(12, 256);
        compute(&mut cache, 0, &text(100, 2 * TILE));
        cache.truncate(0, 0);
        let other = text(900, 2 * TILE + 4);
        check::assert_answer(
            "attach_prefix with another text",
            &cache.attach_prefix(0, &other),
            &0,
        );
        compute(&mut cache, 0, &other);
        cache.truncate(0, 0);
        for (why, text) in [("the first", text(100, 2 * TILE + 1)), ("the second", other)] {
            check::assert_answer(
                &format!(
                    "two texts were computed in one slot, then attach_prefix with {why}: (return \
                     value, tokens)"
                ),
                &(cache.attach_prefix(1, &text), held(&cache, 1)),
                &(2 * TILE, text[..2 * TILE].to_vec()),
            );
            cache.truncate(1, 0);
        }
    });
}

#[test]
fn task_3_reserve_evicts_pages_when_needed() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(6, 256);
        compute(&mut cache, 0, &text(100, 2 * TILE));
        cache.truncate(0, 0);
        compute(&mut cache, 0, &text(300, 2 * TILE));
        cache.truncate(0, 0);
        check::assert_answer(
            "two finished texts with two of six pages each: (free pages, pages in the index)\n ",
            &(cache.pages().pool().num_free(), cache.index().len()),
            &(2, 4),
        );
        let reserved = cache.reserve(1, 3 * TILE);
        check::assert_answer(
            "reserve of three pages: (return value, pages left in the index, evictions)\n ",
            &(reserved, cache.index().len(), cache.index().counts().evicted),
            &(true, 3, 1),
        );
        check::assert_answer(
            "reserve of three pages, then attach_prefix with the text used last: (return value, \
             pages in the index)\n ",
            &(cache.attach_prefix(2, &text(300, 2 * TILE + 1)), cache.index().len()),
            &(2 * TILE, 3),
        );
        let more = cache.reserve(1, 5 * TILE);
        check::assert_answer(
            "sequence 2 has two of six pages, sequence 1 has three and reserves five: (return \
             value, pages of sequence 1, length of sequence 2)\n ",
            &(more, cache.pages().table(1).len(), cache.len(2)),
            &(false, 3, 2 * TILE),
        );
        check::assert_answer(
            "two pages were needed, but the index could evict only one, so it must keep it: (pages \
             in the index, positions found of the first text)\n ",
            &(cache.index().len(), cache.attach_prefix(0, &text(100, 2 * TILE + 1))),
            &(3, TILE),
        );
    });
}

/// If the index cannot evict enough pages, it evicts none.
#[test]
fn task_3_failed_reserve_evicts_nothing() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(8, 256);
        let known = text(100, 3 * TILE);
        compute(&mut cache, 0, &known);
        cache.truncate(0, 0);
        compute(&mut cache, 1, &text(500, 4 * TILE + 1));
        let all = (cache.index().len(), cache.pages().pool().num_free());
        // Sequence 1 has five pages, the index three that no sequence owns: four are too many.
        let reserved = [cache.reserve(2, 4 * TILE), cache.reserve(1, 9 * TILE)];
        check::assert_answer(
            "sequence 1 has five of eight pages, the index three of a finished text. Sequence 2 \
             reserves four, then sequence 1 reserves nine: (return values, pages in the index and \
             free pages before, pages in the index after, positions found of the text)\n ",
            &(reserved, all, cache.index().len(), cache.attach_prefix(2, &known)),
            &([false; 2], (7, 0), 7, 2 * TILE),
        );
        cache.truncate(2, 0);
        check::assert_answer(
            "sequence 1 has five of eight pages, and sequence 2 reserves the other three: (return \
             value, pages in the index)\n ",
            &(cache.reserve(2, 3 * TILE), cache.index().len()),
            &(true, 4),
        );
    });
}

/// A reservation that can never succeed evicts no page.
#[test]
fn task_3_reserve_beyond_capacity_evicts_nothing() {
    resting_on(&[NAMES, INDEX], || {
        let mut cache = shared(6, 3 * TILE);
        compute(&mut cache, 0, &text(100, 2 * TILE));
        cache.truncate(0, 0);
        check::assert_answer(
            "a sequence may have three of six pages, and reserves four: (return value, pages in \
             the index)\n ",
            &(cache.reserve(1, 4 * TILE), cache.index().len()),
            &(false, 2),
        );
        let mut cache = shared(4, 3 * TILE);
        compute(&mut cache, 0, &text(100, 2 * TILE));
        cache.truncate(0, 0);
        check::assert_answer(
            "a sequence may have three pages, two of four are free, and it reserves three: (return \
             value, pages in the index)\n ",
            &(cache.reserve(1, 3 * TILE), cache.index().len()),
            &(true, 1),
        );
    });
}

fn engine<C: EngineCache>(model: &Arc<Model>, cache: C) -> Engine<C> {
    let bytes = Box::new(|token: u32| format!("<{token}>").into_bytes());
    Engine::new(Arc::clone(model), plan(), cache, EngineOptions::default(), bytes)
}

fn request(prompt: &[u32], max_new_tokens: usize) -> Request {
    Request::greedy(prompt.to_vec(), max_new_tokens)
}

/// Runs all requests until they finish. Returns their answers.
#[track_caller]
fn answers<C: EngineCache>(engine: &mut Engine<C>, requests: &[Request]) -> Vec<Vec<u32>> {
    let ids: Vec<RequestId> = requests
        .iter()
        .map(|request| engine.submit(request.clone()).expect("submit must accept this request"))
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
    panic!("the engine must be idle after 2000 steps, but is not");
}

fn pages_of(model: &Model, sequences: usize, pages: usize) -> PagedCache {
    let shape = CacheShape::of(&model.config, sequences, 96);
    PagedCache::new(shape, TILE, pages, CacheType::F32)
}

/// A common prefix is computed once. The answers are the same as without a prefix cache.
#[test]
fn task_3_engine_computes_a_shared_prefix_once() {
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
            "five requests with the same first 70 tokens, the first one before the others: the \
             answers must be those without a prefix cache\n ",
            &found,
            &expected,
        );
        // Two full pages of the 70 common tokens are attached for each of four requests.
        check::assert_answer(
            "the same requests: (positions attached, rows saved)\n ",
            &(engine.attached(), alone.counts().rows - engine.counts().rows),
            &(4 * 2 * TILE as u64, 4 * 2 * TILE as u64),
        );
    });
}

/// Random requests with common prefixes, few pages and bad hash functions get the same answers.
#[test]
fn task_3_random_requests_give_the_same_answers() {
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
                     answers must be those without a prefix cache\n "
                ),
                &found,
                &expected,
            );
        }
    });
}
