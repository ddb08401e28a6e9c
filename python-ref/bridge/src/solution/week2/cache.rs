//! Day 1.

use pyo3::prelude::*;

use super::rust::cache::{self as rust, KvCache as _};
use crate::{
    convert::{Any, Matrix, compute},
    panics::call,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<CacheType>()?;
    m.add_class::<DenseCache>()
}

#[pyclass(frozen, eq, eq_int, hash, from_py_object)]
#[derive(Clone, Copy, PartialEq, Hash)]
pub(crate) enum CacheType {
    F32,
    F16,
}

impl From<CacheType> for rust::CacheType {
    fn from(cache_type: CacheType) -> Self {
        match cache_type {
            CacheType::F32 => Self::F32,
            CacheType::F16 => Self::F16,
        }
    }
}

#[pyclass]
pub(crate) struct DenseCache(pub rust::DenseCache);

#[pymethods]
impl DenseCache {
    #[new]
    #[pyo3(signature = (layers, sequences, kv_heads, capacity, head_dim, cache_type=CacheType::F32))]
    fn new(
        layers: usize,
        sequences: usize,
        kv_heads: usize,
        capacity: usize,
        head_dim: usize,
        cache_type: CacheType,
    ) -> Self {
        let shape = rust::CacheShape { layers, sequences, kv_heads, capacity, head_dim };
        Self(rust::DenseCache::new(shape, cache_type.into()))
    }

    /// `keys [H, D]`, `values [H, D]`.
    fn write(
        &mut self,
        py: Python<'_>,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: Matrix,
        values: Matrix,
    ) -> PyResult<()> {
        let (keys, values) = (keys.to_vec(), values.to_vec());
        call(py, || self.0.write(layer, sequence, position, &keys, &values))
    }

    /// Keys `[n, D]` and values `[n, D]` of a head's positions `start` to `end` - 1, as f32.
    fn run(
        &self,
        py: Python<'_>,
        layer: usize,
        sequence: usize,
        head: usize,
        start: usize,
        end: usize,
    ) -> PyResult<(Any, Any)> {
        let head_dim = self.0.shape().head_dim;
        let of = |which: fn(rust::Run<'_>) -> rust::Cells<'_>| {
            compute(py, || {
                let numbers: Vec<f32> = match which(self.0.run(layer, sequence, head, start..end)) {
                    rust::Cells::F32(numbers) => numbers.to_vec(),
                    rust::Cells::F16(numbers) => numbers.iter().map(|x| f32::from(*x)).collect(),
                };
                tiny_llm_formats::tensor::tensor(&[numbers.len() / head_dim, head_dim], numbers)
            })
        };
        Ok((of(|run| run.keys)?, of(|run| run.values)?))
    }
}
