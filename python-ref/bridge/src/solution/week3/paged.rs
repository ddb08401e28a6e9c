//! Days 3 and 4: a paged cache, attention over it, and an engine with too few pages.

use std::collections::BTreeMap;

use super::{
    super::{
        rust::week2::{
            attention,
            cache::{CacheShape, KvCache as _},
            kernels::{Rung, vector::TILE},
            parallel::Team,
            plan::{AttentionKind, Plan},
            rows::{Queries, Row},
        },
        week2::{
            cache::{CacheType, check, numbers},
            model::{Model, plan},
        },
    },
    request::Request,
    rust::{
        engine::{self, Event},
        in_parts::InParts,
        options::EngineOptions,
        paged as rust,
        pool::Page,
        room::EngineCache as _,
    },
};
use crate::prelude::*;

exports! { class PagedCache, PagedEngine; }

/// Rejects a page length or part length `n` that is not a positive multiple of `TILE`.
fn in_tiles(argument: &str, n: usize) -> PyResult<()> {
    refuse_if!(n == 0 || !n.is_multiple_of(TILE); argument, n; "a multiple of {TILE}");
    Ok(())
}

/// Keys and values in pages of `page_len` positions. Attention reads parts of `part_len` positions.
#[pyclass]
pub(crate) struct PagedCache {
    cache: Kept<InParts<rust::PagedCache>>,
    shape: CacheShape,
}

#[pymethods]
#[allow(clippy::too_many_arguments, reason = "as in Python, where they have names")]
impl PagedCache {
    #[new]
    #[pyo3(signature = (
        layers, sequences, kv_heads, capacity, head_dim, page_len, pages, cache_type=CacheType::F32,
        part_len=Count(512)
    ), text_signature = "(layers, sequences, kv_heads, capacity, head_dim, page_len, pages, cache_type=..., part_len=512)")]
    #[allow(clippy::too_many_arguments, reason = "a call in Python names them")]
    fn new(
        layers: Count,
        sequences: Count,
        kv_heads: Count,
        capacity: Count,
        head_dim: Count,
        page_len: Count,
        pages: Count,
        cache_type: CacheType,
        part_len: Count,
    ) -> PyResult<Self> {
        in_tiles("page_len", page_len.0)?;
        in_tiles("part_len", part_len.0)?;
        at_least_one("pages", pages.0)?;
        let capacity = capacity.0.min(pages.0.saturating_mul(page_len.0));
        let (layers, kv_heads, head_dim) = (layers.0, kv_heads.0, head_dim.0);
        let shape = CacheShape { layers, sequences: sequences.0, kv_heads, capacity, head_dim };
        let all =
            CacheShape { sequences: 1, capacity: pages.0.saturating_mul(page_len.0), ..shape };
        check(shape, cache_type)?;
        check(all, cache_type)?;
        let cache = rust::PagedCache::new(shape, page_len.0, pages.0, cache_type.into());
        Ok(Self { cache: Kept::new(InParts::with_part_len(cache, part_len.0)), shape })
    }

    /// Reserves room for a sequence's first `len` positions. Returns whether there is room.
    fn reserve(&self, sequence: Count, len: Count) -> PyResult<bool> {
        let sequence = self.sequence(sequence)?;
        self.cache.call(move |cache| cache.inner_mut().reserve(sequence, len.0))
    }

    /// Appends a position to a sequence: `keys [layers, H, D]` and `values [layers, H, D]`. Returns
    /// whether there was room.
    fn append(&self, sequence: Count, keys: Floats, values: Floats) -> PyResult<bool> {
        let sequence = self.sequence(sequence)?;
        let CacheShape { layers, kv_heads, head_dim, .. } = self.shape;
        fit!("the cache": layers = layers, H = kv_heads, D = head_dim;
            keys = "layers H D", values = "layers H D");
        every("keys", &keys.0, "finite numbers", f32::is_finite)?;
        every("values", &values.0, "finite numbers", f32::is_finite)?;
        let (keys, values) = (keys.to_vec(), values.to_vec());
        self.cache.call(move |cache| {
            let cache = cache.inner_mut();
            let position = cache.len(sequence);
            if !cache.reserve(sequence, position + 1) {
                return false;
            }
            let layer = |x: &[f32], i: usize| {
                let n = x.len() / layers;
                x[i * n..(i + 1) * n].to_vec()
            };
            for i in 0..layers {
                cache.write(i, sequence, position, &layer(&keys, i), &layer(&values, i));
            }
            cache.advance(sequence, position);
            true
        })
    }

    /// Removes the positions `len` and later from a sequence.
    fn truncate(&self, sequence: Count, len: Count) -> PyResult<()> {
        let sequence = self.sequence(sequence)?;
        self.cache.call(move |cache| cache.inner_mut().truncate(sequence, len.0))
    }

    /// Shares all positions of `source` with the empty sequence `to`, without a copy.
    fn fork(&self, source: Count, to: Count) -> PyResult<()> {
        let (source, to) = (self.sequence(source)?, self.sequence(to)?);
        let done = self.cache.call(move |cache| {
            let cache = cache.inner_mut();
            let empty = source != to && cache.table(to).is_empty();
            if empty {
                cache.fork(source, to);
            }
            empty
        })?;
        if done { Ok(()) } else { Err(wrong("to", to, "an empty sequence")) }
    }

    /// Returns the indices of a sequence's pages, and the number of its positions.
    fn table(&self, sequence: Count) -> PyResult<(Vec<usize>, usize)> {
        let sequence = self.sequence(sequence)?;
        self.cache.call(move |cache| {
            let pages = cache.inner().table(sequence).iter().map(Page::index).collect();
            (pages, cache.len(sequence))
        })
    }

    /// Returns the number of free pages.
    fn num_free(&self) -> PyResult<usize> {
        self.cache.call(|cache| cache.inner().pool().num_free())
    }

    /// Returns the keys and values `[n, D]` of a head's positions `start` and later, as float32.
    fn read(
        &self,
        layer: Count,
        sequence: Count,
        head: Count,
        start: Count,
    ) -> PyResult<(Floats, Floats)> {
        let CacheShape { layers, kv_heads, head_dim, .. } = self.shape;
        let (layer, head, start) = (layer.0, head.0, start.0);
        let sequence = self.sequence(sequence)?;
        below("layer", layer, layers, "the layers of the cache")?;
        below("head", head, kv_heads, "the heads of the cache")?;
        let len = self.cache.call(move |cache| cache.len(sequence))?;
        below("start", start, len.saturating_add(1), "as many positions as the sequence has")?;
        self.cache.call(move |cache| {
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for run in cache.runs(layer, sequence, head, start..cache.len(sequence)) {
                keys.extend(numbers(run.keys, head_dim, cache.holds_q8()));
                values.extend(numbers(run.values, head_dim, cache.holds_q8()));
            }
            let floats = |x: Vec<f32>| Floats(tensor(&[x.len() / head_dim, head_dim], x));
            (floats(keys), floats(values))
        })
    }

    /// Computes attention in one layer: `q [T, H, G, D]` → `[T, H, G, D]`. `rows` are pairs of a
    /// sequence and a position. A row sees its sequence's positions up to its own.
    fn attend(
        &self,
        layer: Count,
        rows: Vec<(Count, Count)>,
        q: Floats,
        threads: Count,
    ) -> PyResult<Floats> {
        let CacheShape { layers, kv_heads, head_dim, .. } = self.shape;
        below("layer", layer.0, layers, "the layers of the cache")?;
        below("threads", threads.0.wrapping_sub(1), 16, "16 threads")?;
        at_least_one("rows", rows.len())?;
        let mut shapes = Shapes::default();
        shapes.set("T", rows.len(), "rows");
        shapes.set("H", kv_heads, "the cache");
        shapes.set("D", head_dim, "the cache");
        shapes.fit("q", "T H G D", &q)?;
        every("q", &q.0, "finite numbers", f32::is_finite)?;
        let group = shapes.size("G");
        refuse_if!(group > 16 || head_dim > 256;
            "q", format_args!("{group} heads of {head_dim} values");
            "at most 16 heads of 256 values");
        let mut asked = Vec::new();
        for (sequence, position) in rows {
            let (sequence, position) = (self.sequence(sequence)?, position.0);
            let len = self.cache.call(move |cache| cache.len(sequence))?;
            below("position", position, len, "the sequence's positions")?;
            asked.push(Row { token: 0, position, sequence, logits: false });
        }
        let (flat, shape) = (q.to_vec(), q.0.shape().to_vec());
        self.cache.call(move |cache| {
            let (kernels, attention) = (Rung::Naive.into(), AttentionKind::Streaming);
            let plan = Plan { kernels, attention, team: Team::new(threads.0) };
            let mut out = vec![f32::NAN; flat.len()];
            let queries = Queries { rows: &asked, q: &flat, group, head_dim };
            attention::attend(&plan, cache, layer.0, queries, &mut out);
            Floats(tensor(&shape, out))
        })
    }

    fn __repr__(&self) -> String {
        let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
        format!(
            "PagedCache(layers={layers}, sequences={sequences}, kv_heads={kv_heads}, \
             capacity={capacity}, head_dim={head_dim})"
        )
    }
}

impl PagedCache {
    fn sequence(&self, sequence: Count) -> PyResult<usize> {
        below("sequence", sequence.0, self.shape.sequences, "the sequences of the cache")?;
        Ok(sequence.0)
    }
}

/// An engine with a cache of `pages` pages of `page_len` positions.
#[pyclass]
pub(crate) struct PagedEngine {
    engine: Kept<engine::Engine<rust::PagedCache>>,
    pages: usize,
}

#[pymethods]
impl PagedEngine {
    #[new]
    fn new(
        model: Model,
        max_batch: Count,
        context: Count,
        page_len: Count,
        pages: Count,
    ) -> PyResult<Self> {
        in_tiles("page_len", page_len.0)?;
        at_least_one("pages", pages.0)?;
        let c = &model.0.config;
        let all = pages.0.saturating_mul(page_len.0);
        let capacity = context.0.min(c.max_positions).min(all);
        let (layers, kv_heads, head_dim) = (c.n_layers, c.n_kv_heads, c.head_dim);
        let shape = CacheShape { layers, sequences: max_batch.0, kv_heads, capacity, head_dim };
        check(shape, CacheType::F32)?;
        check(CacheShape { sequences: 1, capacity: all, ..shape }, CacheType::F32)?;
        let cache = rust::PagedCache::new(shape, page_len.0, pages.0, CacheType::F32.into());
        let bytes = Box::new(|token| format!("<{token}>").into_bytes());
        let options = EngineOptions::default();
        let engine = engine::Engine::new(model.0, Arc::new(plan()), cache, options, bytes);
        Ok(Self { engine: Kept::new(engine), pages: pages.0 })
    }

    /// Runs all requests. Returns their answers in order, and the number of preemptions that
    /// discarded computed tokens.
    fn run(&self, requests: Vec<Request>) -> PyResult<(Vec<Vec<u32>>, u64)> {
        let answers = self.engine.call(move |engine| {
            let before = engine.counts().preempted;
            let mut answers = BTreeMap::new();
            let mut ids = Vec::new();
            for request in requests {
                let id = engine.submit(request.0)?;
                ids.push(id);
                answers.insert(id, Vec::new());
            }
            while !engine.is_idle() {
                engine.step(&mut |event| {
                    if let Event::Token { id, token } = event {
                        answers.entry(id).or_default().push(token);
                    }
                });
            }
            let all = ids.iter().map(|id| answers[id].clone()).collect();
            Ok((all, engine.counts().preempted - before))
        })?;
        answers.map_err(wrong_argument("requests"))
    }

    /// Returns the number of free pages.
    fn num_free(&self) -> PyResult<usize> {
        self.engine.call(|engine| engine.cache().pool().num_free())
    }

    fn __repr__(&self) -> String {
        format!("PagedEngine(pages={})", self.pages)
    }
}
