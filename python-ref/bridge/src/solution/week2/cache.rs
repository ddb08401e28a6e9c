//! Day 1.

use super::rust::{
    cache::{self as rust, KvCache as _},
    kernels::q8_rows::row_words,
    q8_attention::widen_rows,
};
use crate::prelude::*;

exports! {
    class DenseCache;
    choice CacheType;
}

choice! {
    /// How cached keys and values are stored.
    CacheType = rust::CacheType {
        F32 = "f32",
        F16 = "f16",
        Q8_0 = "q8_0",
    }
}

impl CacheType {
    /// Returns the name of this member in Python.
    pub(super) fn shown(self) -> &'static str {
        match self {
            Self::F32 => "CacheType.F32",
            Self::F16 => "CacheType.F16",
            Self::Q8_0 => "CacheType.Q8_0",
        }
    }
}

/// Returns cached keys or values as float32. `holds_q8` says whether they are packed q8_0 rows.
pub(crate) fn numbers(cells: rust::Cells<'_>, head_dim: usize, holds_q8: bool) -> Vec<f32> {
    match cells {
        rust::Cells::F32(words) if holds_q8 => {
            let n = words.len() / row_words(head_dim);
            let mut numbers = vec![0.0; n * head_dim];
            widen_rows(cells, 0, n, head_dim, &mut numbers);
            numbers
        }
        rust::Cells::F32(numbers) => numbers.to_vec(),
        rust::Cells::F16(numbers) => numbers.iter().map(|x| f32::from(*x)).collect(),
    }
}

/// Checks the sizes of a cache, and that there is memory for its keys and values.
pub(crate) fn check(shape: rust::CacheShape, cache_type: CacheType) -> PyResult<()> {
    let rust::CacheShape { layers, sequences, kv_heads, capacity, head_dim } = shape;
    let named = [
        ("layers", layers),
        ("sequences", sequences),
        ("kv_heads", kv_heads),
        ("capacity", capacity),
        ("head_dim", head_dim),
    ];
    for (argument, n) in named {
        at_least_one(argument, n)?;
    }
    let number = if cache_type == CacheType::F32 { 4 } else { 2 };
    room_for("the cache", &named.map(|(_, n)| n), number)
}

/// A cache with room for the keys and values of every position of every sequence.
#[pyclass]
pub(crate) struct DenseCache {
    cache: Kept<rust::DenseCache>,
    shape: rust::CacheShape,
    cache_type: CacheType,
}

#[pymethods]
impl DenseCache {
    #[new]
    #[pyo3(signature = (
        layers, sequences, kv_heads, capacity, head_dim, cache_type=CacheType::F32
    ))]
    fn new(
        layers: Count,
        sequences: Count,
        kv_heads: Count,
        capacity: Count,
        head_dim: Count,
        cache_type: CacheType,
    ) -> PyResult<Self> {
        let shape = rust::CacheShape {
            layers: layers.0,
            sequences: sequences.0,
            kv_heads: kv_heads.0,
            capacity: capacity.0,
            head_dim: head_dim.0,
        };
        check(shape, cache_type)?;
        let cache = Kept::new(rust::DenseCache::new(shape, cache_type.into()));
        Ok(Self { cache, shape, cache_type })
    }

    /// Stores `keys [H, D]` and `values [H, D]` of a position.
    fn write(
        &mut self,
        layer: Count,
        sequence: Count,
        position: Count,
        keys: Floats,
        values: Floats,
    ) -> PyResult<()> {
        let rust::CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
        let (layer, sequence, position) = (layer.0, sequence.0, position.0);
        below("layer", layer, layers, "the layers of the cache")?;
        below("sequence", sequence, sequences, "the sequences of the cache")?;
        below("position", position, capacity, "the capacity of the cache")?;
        fit!("the cache": H = kv_heads, D = head_dim; keys = "H D", values = "H D");
        let (keys, values) = (keys.to_vec(), values.to_vec());
        self.cache.call(move |cache| cache.write(layer, sequence, position, &keys, &values))
    }

    /// Returns keys and values `[n, D]` of a head's positions `start` to `end` − 1, as float32.
    fn run(
        &self,
        layer: Count,
        sequence: Count,
        head: Count,
        start: Count,
        end: Count,
    ) -> PyResult<(Floats, Floats)> {
        let rust::CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
        let (layer, sequence, head, start, end) = (layer.0, sequence.0, head.0, start.0, end.0);
        below("layer", layer, layers, "the layers of the cache")?;
        below("sequence", sequence, sequences, "the sequences of the cache")?;
        below("head", head, kv_heads, "the heads of the cache")?;
        refuse_if!(end > capacity; "end", end; "at most {capacity}, the capacity of the cache");
        refuse_if!(start > end; "start", start; "at most {end}, the end");
        self.cache.call(move |cache| {
            let run = cache.run(layer, sequence, head, start..end);
            let floats = |cells| {
                let numbers = numbers(cells, head_dim, cache.holds_q8());
                Floats(tensor(&[numbers.len() / head_dim, head_dim], numbers))
            };
            (floats(run.keys), floats(run.values))
        })
    }

    fn __repr__(&self) -> String {
        let rust::CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
        format!(
            "DenseCache(layers={layers}, sequences={sequences}, kv_heads={kv_heads}, \
             capacity={capacity}, head_dim={head_dim}, cache_type={})",
            self.cache_type.shown()
        )
    }
}
