//! Week 2, day 1, on fresh inputs.

use std::{cell::RefCell, ops::ControlFlow, sync::Arc};

use tiny_llm::{
    week1::generate::Limits,
    week2::{
        attention::{attend, attend_two_pass},
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        generate::Session,
        load::{Rope, build},
        matrix::Matrix,
        model::{Model, Workspace},
        rope::RopeLayout,
        rows::{Queries, Row},
    },
};
use tiny_llm_formats::config::ModelConfig;
use tiny_llm_harness::fresh::Fresh;

use super::{numbers, plan};

const QWEN3: &str = r#"{"model_type": "qwen3", "hidden_size": 6, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 4, "num_hidden_layers": 2, "intermediate_size": 8,
    "vocab_size": 11, "max_position_embeddings": 16, "rms_norm_eps": 1e-5, "rope_theta": 500.0,
    "hidden_act": "silu", "tie_word_embeddings": false}"#;

/// Returns a cache in which every position of every layer and sequence is written.
fn filled(fresh: &Fresh, shape: CacheShape, cache_type: CacheType) -> DenseCache {
    let mut cache = DenseCache::new(shape, cache_type);
    for position in 0..shape.capacity {
        for layer in 0..shape.layers {
            for sequence in 0..shape.sequences {
                let n = shape.kv_heads * shape.head_dim;
                let (keys, values) = (fresh.f32s(n), fresh.f32s(n));
                cache.write(layer, sequence, position, &keys, &values);
            }
        }
    }
    cache
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week2-day1 task 1");
    for cache_type in [CacheType::F32, CacheType::F16] {
        let shape = CacheShape {
            layers: fresh.from_to(2, 3),
            sequences: fresh.from_to(2, 3),
            kv_heads: fresh.from_to(2, 3),
            capacity: 5,
            head_dim: fresh.from_to(3, 6),
        };
        let cache = filled(&fresh, shape, cache_type);
        for layer in 0..shape.layers {
            for sequence in 0..shape.sequences {
                for head in 0..shape.kv_heads {
                    let run = cache.run(layer, sequence, head, fresh.below(3)..fresh.from_to(3, 5));
                    fresh.says("positions", &(run.start, run.len));
                    fresh.answers("keys", &numbers(run.keys), 0.0);
                    fresh.answers("values", &numbers(run.values), 0.0);
                }
            }
        }
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week2-day1 task 2");
    let (group, d, n) = (fresh.from_to(2, 4), 2 * fresh.from_to(2, 5), fresh.from_to(3, 9));
    let shape = CacheShape { layers: 1, sequences: 2, kv_heads: 2, capacity: n, head_dim: d };
    let cache = filled(&fresh, shape, CacheType::F32);
    let (q, scale) = (fresh.f32s(group * d), 0.1 + fresh.uniform() as f32);
    let mut out = vec![7.0; group * d];
    attend_two_pass(&q, || cache.runs(0, 1, 1, 1..n), d, scale, &mut out);
    fresh.answers("attention", &out, 1e-4);
    let rows: Vec<Row> = (0..n)
        .flat_map(|position| [0, 1].map(|sequence| (position, sequence)))
        .map(|(position, sequence)| Row { token: 0, position, sequence, logits: false })
        .collect();
    let q = fresh.f32s(rows.len() * 2 * group * d);
    let mut out = vec![7.0; q.len()];
    let queries = Queries { rows: &rows, q: &q, group, head_dim: d };
    attend(&plan(), &cache, 0, queries, &mut out);
    fresh.answers("attention of rows", &out, 1e-4);
}

fn model(fresh: &Fresh, layout: RopeLayout) -> Model {
    let config = ModelConfig::from_json(QWEN3, "config.json").expect("a configuration");
    let rope = Rope { layout, factors: Vec::new() };
    let model = build(config, &rope, usize::MAX, &mut |_, shape| {
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        let values: Vec<f32> = fresh.f32s(rows * cols).iter().map(|x| x * 0.5).collect();
        Ok(Matrix::from_f32(rows, cols, &values))
    });
    model.expect("build must find every weight")
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week2-day1 task 3");
    for layout in [RopeLayout::HalfSplit, RopeLayout::Interleaved] {
        let model = model(&fresh, layout);
        let shape = CacheShape { layers: 2, sequences: 2, kv_heads: 2, capacity: 8, head_dim: 4 };
        let mut cache = DenseCache::new(shape, CacheType::F32);
        let mut work = Workspace::default();
        let mut next = [0, 0];
        for length in [3, 1, 4] {
            let rows: Vec<Row> = (0..length)
                .map(|i| {
                    let sequence = fresh.below(2);
                    let position = next[sequence];
                    next[sequence] += 1;
                    let logits = i + 1 == length || fresh.below(2) == 1;
                    Row { token: fresh.below(11) as u32, position, sequence, logits }
                })
                .collect();
            let logits = model.forward(&rows, &mut cache, &plan(), &mut work);
            fresh.answers("logits", logits, 1e-3);
        }
        fresh.says("computed", &cache.computed());
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week2-day1 task 4");
    for _ in 0..3 {
        let model = Arc::new(model(&fresh, RopeLayout::HalfSplit));
        let mut session = Session::new(model, Arc::new(plan()), 12, CacheType::F32);
        let (prompt, chunk) = (fresh.tokens(5, 11), fresh.from_to(1, 6));
        let logits =
            session.feed(&prompt[..3], chunk).expect("feed must accept this text").to_vec();
        fresh.answers("fed", &logits, 1e-3);
        let limits = Limits {
            max_new_tokens: fresh.from_to(2, 9),
            context: 12,
            stop_tokens: fresh.tokens(1, 11).into_iter().collect(),
        };
        let (chosen, seen) = (fresh.tokens(20, 11), RefCell::new(Vec::new()));
        let logits = RefCell::new(Vec::new());
        let reason = session.generate(
            &prompt,
            chunk,
            &limits,
            |scores, tokens| {
                logits.borrow_mut().extend_from_slice(scores);
                seen.borrow_mut().push(format!("choose after {tokens:?}"));
                chosen[tokens.len()]
            },
            |token| {
                seen.borrow_mut().push(format!("token {token}"));
                ControlFlow::Continue(())
            },
        );
        fresh.says("generate", &(reason.ok(), seen.into_inner(), session.cache().computed()));
        fresh.answers("logits on the way", &logits.into_inner(), 1e-3);
    }
}
