//! Week 3, day 3, on fresh inputs.

use std::sync::Arc;

use tiny_llm::{
    week1::sampling::SamplerOptions,
    week2::cache::{CacheShape, CacheType, KvCache},
    week3::{
        engine::Engine,
        options::EngineOptions,
        paged::PagedCache,
        pool::{BlockPool, Page},
        request::Request,
        room::EngineCache,
    },
};
use tiny_llm_harness::fresh::Fresh;

use super::{model, numbers, plan};

#[test]
fn task_1() {
    let fresh = Fresh::new("week3-day3 task 1");
    let n = fresh.from_to(3, 9);
    let (mut pool, mut pages) = (BlockPool::new(n), Vec::new());
    for _ in 0..60 {
        match fresh.below(4) {
            0 if !pages.is_empty() => {
                let page = pool.retain(&pages[fresh.below(pages.len())]);
                pages.push(page);
            }
            1 if !pages.is_empty() => pool.release(pages.swap_remove(fresh.below(pages.len()))),
            _ => pages.extend(pool.allocate()),
        }
        let owners: Vec<_> =
            pages.iter().map(|page| (page.index(), pool.num_owners(page))).collect();
        let room: Vec<_> = (0..=n + 1).map(|n| pool.can_allocate(n)).collect();
        fresh.says("the pool", &(pool.num_free(), owners, room));
    }
}

/// Grows, shrinks and (if `forks`) forks random sequences. Answers with what they hold at the end.
fn operations(fresh: &Fresh, forks: bool) {
    let cache_type = if forks { CacheType::F16 } else { CacheType::F32 };
    let shape = CacheShape {
        layers: fresh.from_to(1, 2),
        sequences: 3,
        kv_heads: fresh.from_to(1, 3),
        capacity: 300,
        head_dim: fresh.from_to(2, 4),
    };
    let page_len = 32 * fresh.from_to(1, 2);
    let mut cache = PagedCache::new(shape, page_len, fresh.from_to(8, 12), cache_type);
    for _ in 0..25 {
        let (a, b) = (fresh.below(3), fresh.below(3));
        let room = match fresh.below(6) {
            0 if forks && a != b => {
                cache.truncate(b, 0);
                cache.fork(a, b);
                true
            }
            1 => {
                cache.truncate(a, fresh.below(cache.len(a) + 20));
                true
            }
            _ => {
                let (start, len) = (cache.len(a), cache.len(a) + fresh.from_to(1, 60));
                let room = cache.reserve(a, len);
                for position in if room { start..len } else { 0..0 } {
                    for layer in 0..shape.layers {
                        let n = shape.kv_heads * shape.head_dim;
                        cache.write(layer, a, position, &fresh.f32s(n), &fresh.f32s(n));
                    }
                    cache.advance(a, position);
                }
                room
            }
        };
        let table = |s| cache.table(s).iter().map(Page::index).collect::<Vec<_>>();
        let lengths: Vec<_> = (0..3).map(|s| (cache.len(s), table(s))).collect();
        fresh.says("the cache", &(room, lengths, cache.pool().num_free(), cache.copied()));
    }
    for sequence in 0..3 {
        let len = cache.len(sequence);
        for (layer, head) in [(0, 0), (shape.layers - 1, shape.kv_heads - 1)] {
            let start = fresh.below(len + 1);
            for run in cache.runs(layer, sequence, head, start..len) {
                fresh.says("a run", &(run.start, run.len));
                fresh.answers("keys", &numbers(run.keys), 0.0);
                fresh.answers("values", &numbers(run.values), 0.0);
            }
        }
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week3-day3 task 2");
    (0..4).for_each(|_| operations(&fresh, false));
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week3-day3 task 3");
    (0..4).for_each(|_| operations(&fresh, true));
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week3-day3 task 4");
    let shape = CacheShape { layers: 3, sequences: 4, kv_heads: 2, capacity: 96, head_dim: 8 };
    let cache = PagedCache::new(shape, 32, fresh.from_to(3, 5), CacheType::F32);
    let bytes = Box::new(|_| Vec::new());
    let mut engine = Engine::new(model(), Arc::new(plan()), cache, EngineOptions::default(), bytes);
    for seed in 0..5 {
        let prompt = fresh.tokens(fresh.from_to(1, 40), 50);
        let request = Request {
            sampling: SamplerOptions { temperature: 1.0, ..SamplerOptions::default() },
            seed,
            ..Request::greedy(prompt, fresh.from_to(20, 50))
        };
        engine.submit(request).expect("a good request");
    }
    for _ in 0..200 {
        let mut events = Vec::new();
        engine.step(&mut |event| events.push(event));
        let running: Vec<_> = engine.running().iter().map(|s| (s.id, s.num_computed)).collect();
        let free = engine.cache().pool().num_free();
        fresh.says("a step", &(events, running, engine.num_waiting(), free));
    }
}
