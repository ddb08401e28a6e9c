//! Compares a session over a paged cache with one over a dense cache. The model, attention and
//! sessions use only `KvCache`, so the same passes give the same bits, wherever the runs end.

use std::sync::Arc;

use tiny_llm_harness::fixtures::random;
use tiny_llm_reference::{
    week2::{
        cache::{CacheShape, CacheType},
        generate::Session,
        kernels::{Rung, vector::TILE},
        matrix::Matrix,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
    },
    week3::paged::PagedCache,
};

use crate::llama::llama;

/// Returns a model of two layers with random weights, four query heads and two KV heads.
fn model() -> Arc<Model> {
    let mut seed = 0;
    let weight = |rows, cols| {
        seed += 1;
        let numbers: Vec<f32> = random(seed, &[rows, cols]).iter().map(|x| 0.2 * x).collect();
        Matrix::from_f32(rows, cols, &numbers)
    };
    Arc::new(llama("llama", [32, 48, 2, 4, 2, 16, 50], weight))
}

#[test]
fn session_over_pages_matches_a_dense_session() {
    let model = model();
    let tokens: Vec<u32> = (0..100).map(|i| i * 7919 % 50).collect();
    for attention in [AttentionKind::TwoPass, AttentionKind::Streaming] {
        for (chunk, threads) in [(100, 1), (33, 2), (1, 1)] {
            let (kernels, team) = (Rung::Fused.into(), Team::new(threads));
            let plan = Arc::new(Plan { kernels, attention, team });
            let mut dense =
                Session::new(Arc::clone(&model), Arc::clone(&plan), 256, CacheType::F16);
            let expected = dense.feed(&tokens, chunk).unwrap().to_vec();
            for page in [TILE, 2 * TILE] {
                // Another, longer text comes first, and fills all pages. Part of them are freed and
                // reused. What they still contain must not be read.
                let other: Vec<u32> = tokens[..70].iter().chain(&tokens[21..]).copied().collect();
                let pages = other.len().div_ceil(page);
                let shape = CacheShape::of(&model.config, 1, 256);
                let cache = PagedCache::new(shape, page, pages, CacheType::F16);
                let mut paged = Session::with_cache(Arc::clone(&model), Arc::clone(&plan), cache);
                paged.feed(&other, chunk).unwrap();
                paged.keep_prefix(&tokens);
                let kept = paged.tokens().len();
                assert_eq!(kept, 70);
                let found = paged.feed(&tokens[kept..], chunk).unwrap();
                if chunk == 1 {
                    // The passes are the same, so the numbers are too.
                    assert!(found == expected, "{attention}, pages of {page}");
                } else {
                    // The blocks of rows differ, so the rounding differs.
                    let worst =
                        expected.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
                    assert!(worst < 1e-4, "{attention}, pages of {page}: {worst}");
                }
                paged.clear();
                assert!(
                    paged.feed(&tokens, chunk).unwrap() == expected,
                    "{attention}, chunks of {chunk}, pages of {page}, {threads} threads"
                );
            }
        }
    }
}
