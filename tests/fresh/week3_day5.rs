//! Week 3, day 5, on fresh inputs.

use tiny_llm::{
    week2::cache::{CacheShape, CacheType, DenseCache, KvCache},
    week3::{
        prefix_hash::{chain, hash_page},
        prompt_file::{PromptKey, decode, encode},
        room::EngineCache,
    },
};
use tiny_llm_harness::fresh::Fresh;

use super::{Shelf, TILE, compute, held, shared};

#[test]
fn task_1() {
    let fresh = Fresh::new("week3-day5 task 1");
    for _ in 0..20 {
        let text = fresh.tokens(fresh.below(30), 100_000);
        fresh.says("page", &hash_page(fresh.u64(), &text));
        fresh.says("chain", &chain(fresh.u64(), &text, fresh.from_to(1, 6), hash_page));
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week3-day5 task 2");
    let mut shelf = Shelf::new(10, hash_page);
    for _ in 0..200 {
        let text = fresh.tokens(fresh.below(9), 2);
        match fresh.below(3) {
            0 => {
                if let Some(table) = shelf.compute(&text) {
                    shelf.release(table);
                }
            }
            1 => fresh.says("evicted", &shelf.index.evict(&mut shelf.pool)),
            _ => fresh.says("found", &shelf.found(&text)),
        }
    }
    fresh.says("counts", &shelf.index.counts());
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week3-day5 task 3");
    let mut cache = shared(7, 6 * TILE);
    for _ in 0..30 {
        let base = fresh.below(3) as u32 * 1000;
        let text: Vec<u32> = (base..).take(fresh.from_to(1, 5 * TILE)).collect();
        fresh.says("attached", &cache.attach_prefix(1, &text));
        compute(&mut cache, 1, &text);
        fresh.says("held", &(held(&cache, 1) == text, cache.index().len()));
        cache.truncate(1, 0);
        fresh.says("room", &cache.reserve(0, fresh.below(7 * TILE)));
        cache.truncate(0, 0);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week3-day5 task 4");
    for cache_type in [CacheType::F32, CacheType::F16] {
        let shape = CacheShape {
            layers: fresh.from_to(1, 3),
            sequences: 1,
            kv_heads: fresh.from_to(1, 3),
            capacity: 9,
            head_dim: 2 * fresh.from_to(1, 4),
        };
        let mut cache = DenseCache::new(shape, cache_type);
        let n = fresh.from_to(1, 9);
        for position in 0..n {
            for layer in 0..shape.layers {
                let size = shape.kv_heads * shape.head_dim;
                cache.write(layer, 0, position, &fresh.f32s(size), &fresh.f32s(size));
            }
            cache.advance(0, position);
        }
        let key = PromptKey::new(fresh.u64(), cache_type, shape);
        let tokens = fresh.tokens(n, 1000);
        let file = encode(&cache, 0, &tokens, key);
        fresh.says("file", &file);
        let mut damaged = file.clone();
        damaged[fresh.below(file.len())] ^= 1 << fresh.below(8);
        fresh.says("damaged", &decode(&damaged, key).is_ok());
        let prompt = decode(&file, key).expect("a good file");
        let mut text = tokens.clone();
        text[fresh.below(n)] = 2000;
        fresh.says("in common", &prompt.in_common(&text));
        let mut restored = DenseCache::new(shape, cache_type);
        prompt.restore(&mut restored, 0, n);
        fresh.says("restored", &(encode(&restored, 0, &tokens, key) == file));
    }
}
