//! Compares a paged cache with the dense one. The model, attention and sessions use only `KvCache`,
//! so the same passes give the same bits, wherever the cache's runs end.

use std::{ops::Range, sync::Arc};

use half::f16;
use tiny_llm_formats::config::ModelConfig;
use tiny_llm_harness::fixtures::random;
use tiny_llm_reference::week2::{
    cache::{CacheShape, CacheType, Cells, DenseCache, KvCache, Run},
    generate::Session,
    kernels::{Rung, vector::TILE},
    load::{Rope, build},
    matrix::Matrix,
    model::{Model, Workspace},
    parallel::Team,
    plan::{AttentionKind, Plan},
    rope::RopeLayout,
    rows::Row,
};

/// A cache in pages of `page` positions of every layer and head. Pages are allocated on demand,
/// last one first, so the pages of a sequence are not in order in memory.
struct PagedCache {
    shape: CacheShape,
    page: usize,
    /// `[pages, layers, H, page, D]`, like `values`.
    keys: Vec<f16>,
    values: Vec<f16>,
    free: Vec<usize>,
    /// For each sequence: its pages, in order.
    tables: Vec<Vec<usize>>,
    lengths: Vec<usize>,
}

impl PagedCache {
    fn new(shape: CacheShape, page: usize) -> Self {
        let pages = shape.sequences * shape.capacity.div_ceil(page);
        let numbers = pages * shape.layers * shape.kv_heads * page * shape.head_dim;
        Self {
            shape,
            page,
            // Stale numbers, which must not be read.
            keys: vec![f16::from_f32(9.0); numbers],
            values: vec![f16::from_f32(9.0); numbers],
            free: (0..pages).collect(),
            tables: vec![Vec::new(); shape.sequences],
            lengths: vec![0; shape.sequences],
        }
    }

    fn start(&self, page: usize, layer: usize, head: usize) -> usize {
        let CacheShape { layers, kv_heads, head_dim, .. } = self.shape;
        ((page * layers + layer) * kv_heads + head) * self.page * head_dim
    }
}

impl KvCache for PagedCache {
    fn shape(&self) -> CacheShape {
        self.shape
    }

    fn len(&self, sequence: usize) -> usize {
        self.lengths[sequence]
    }

    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        if position / self.page == self.tables[sequence].len() {
            self.tables[sequence].push(self.free.pop().expect("enough pages for all positions"));
        }
        let (page, d) = (self.tables[sequence][position / self.page], self.shape.head_dim);
        for head in 0..self.shape.kv_heads {
            let at = self.start(page, layer, head) + position % self.page * d;
            for i in 0..d {
                self.keys[at + i] = f16::from_f32(keys[head * d + i]);
                self.values[at + i] = f16::from_f32(values[head * d + i]);
            }
        }
    }

    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        let (page, d) = (self.page, self.shape.head_dim);
        let pages = positions.start / page..positions.end.div_ceil(page);
        pages.filter_map(move |i| {
            let (start, end) = (positions.start.max(i * page), positions.end.min((i + 1) * page));
            (start < end).then(|| {
                let at = self.start(self.tables[sequence][i], layer, head) + (start - i * page) * d;
                let numbers = at..at + (end - start) * d;
                let keys = Cells::F16(&self.keys[numbers.clone()]);
                Run { start, len: end - start, keys, values: Cells::F16(&self.values[numbers]) }
            })
        })
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        assert_eq!(position, self.lengths[sequence]);
        self.lengths[sequence] += 1;
    }

    fn truncate(&mut self, sequence: usize, len: usize) {
        self.lengths[sequence] = self.lengths[sequence].min(len);
        let kept = self.lengths[sequence].div_ceil(self.page);
        self.free.extend(self.tables[sequence].drain(kept..));
    }
}

/// Returns a model of two layers with random weights, four query heads and two KV heads.
fn model() -> Arc<Model> {
    let json = r#"{"model_type": "llama", "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 48,
        "vocab_size": 50, "hidden_act": "silu", "max_position_embeddings": 256, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "tie_word_embeddings": true}"#;
    let config = ModelConfig::from_json(json, "config.json").unwrap();
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let mut seed = 0;
    let mut matrix = |name: &str, shape: &[usize]| {
        seed += 1;
        let norm = name.ends_with("norm.weight");
        let number = |x: &f32| if norm { 1.0 + 0.2 * x } else { 0.2 * x };
        let numbers: Vec<f32> = random(seed, shape).iter().map(number).collect();
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        Ok(Matrix::from_f32(rows, cols, &numbers))
    };
    Arc::new(build(config, &rope, 256, &mut matrix).unwrap())
}

fn shape(model: &Model, sequences: usize) -> CacheShape {
    let c = &model.config;
    CacheShape {
        layers: c.n_layers,
        sequences,
        kv_heads: c.n_kv_heads,
        capacity: 256,
        head_dim: c.head_dim,
    }
}

fn plan(attention: AttentionKind, threads: usize) -> Plan {
    Plan { kernels: Rung::Fused.into(), attention, team: Team::new(threads) }
}

fn tokens(n: u32) -> Vec<u32> {
    (0..n).map(|i| i * 7919 % 50).collect()
}

#[test]
fn session_over_pages_matches_a_dense_session() {
    let model = model();
    let tokens = tokens(100);
    for attention in [AttentionKind::TwoPass, AttentionKind::Streaming] {
        for (chunk, threads) in [(100, 1), (33, 1), (1, 1)] {
            let plan = Arc::new(plan(attention, threads));
            let mut dense =
                Session::new(Arc::clone(&model), Arc::clone(&plan), 256, CacheType::F16);
            let expected = dense.feed(&tokens, chunk).unwrap().to_vec();
            for page in [TILE, 2 * TILE] {
                let cache = PagedCache::new(shape(&model, 1), page);
                let mut paged = Session::with_cache(Arc::clone(&model), Arc::clone(&plan), cache);
                // Another text comes first. Part of its pages are freed, and reused.
                let other: Vec<u32> =
                    tokens[..70].iter().chain(&tokens[80..100]).copied().collect();
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

#[test]
fn forward_of_two_sequences_matches_a_dense_cache() {
    let model = model();
    let plan = plan(AttentionKind::Streaming, 2);
    let tokens = tokens(120);
    let run = |cache: &mut dyn FnMut(&[Row], &mut Workspace) -> Vec<f32>| {
        let (mut work, mut all) = (Workspace::default(), Vec::new());
        let row = |sequence: usize, position: usize| Row {
            token: tokens[(position * 3 + sequence * 17) % 120],
            position,
            sequence,
            logits: position.is_multiple_of(13),
        };
        // Two prompts, a step of each, a chunk of one with a step of the other, two rows of each.
        let passes: [Vec<Row>; 4] = [
            (0..70).map(|p| row(0, p)).chain((0..20).map(|p| row(1, p))).collect(),
            vec![row(0, 70), row(1, 20)],
            (21..90).map(|p| row(1, p)).chain([row(0, 71)]).collect(),
            vec![row(0, 72), row(0, 73), row(1, 90), row(1, 91)],
        ];
        for rows in &passes {
            all.extend(cache(rows, &mut work));
        }
        all
    };
    let mut dense = DenseCache::new(shape(&model, 2), CacheType::F16);
    let expected = run(&mut |rows, work| model.forward(rows, &mut dense, &plan, work).to_vec());
    let mut paged = PagedCache::new(shape(&model, 2), TILE);
    let found = run(&mut |rows, work| model.forward(rows, &mut paged, &plan, work).to_vec());
    assert!(!expected.is_empty() && found == expected);
}
