//! Day 5: a prompt in a file.

use super::{
    super::{
        rust::week2::cache::{CacheShape, DenseCache, KvCache as _},
        week2::cache::{CacheType, check, numbers},
    },
    rust::{from_words::FromWords, prompt_file as rust},
};
use crate::prelude::*;

exports! { fn encode, decode; }

/// Encodes `tokens [n]`, `keys [layers, H, n, D]` and `values [layers, H, n, D]` as a file.
#[pyfunction]
#[pyo3(
    signature = (tokens, keys, values, fingerprint, cache_type=CacheType::F32),
    text_signature = "(tokens, keys, values, fingerprint, cache_type=...)"
)]
fn encode(
    tokens: Ids<1>,
    keys: Floats,
    values: Floats,
    fingerprint: Long,
    cache_type: CacheType,
) -> PyResult<Vec<u8>> {
    let tokens = tokens.to_vec();
    let shapes = fit!("tokens": n = tokens.len();
        keys = "layers H n D", values = "layers H n D");
    every("keys", &keys.0, "numbers of at most 65504 in size", |x| x.abs() <= 65504.0)?;
    every("values", &values.0, "numbers of at most 65504 in size", |x| x.abs() <= 65504.0)?;
    let shape = CacheShape {
        layers: shapes.size("layers"),
        sequences: 1,
        kv_heads: shapes.size("H"),
        capacity: tokens.len(),
        head_dim: shapes.size("D"),
    };
    check(shape, cache_type)?;
    call(move || {
        let mut cache = DenseCache::new(shape, cache_type.into());
        for position in 0..tokens.len() {
            for layer in 0..shape.layers {
                let row = |x: &Floats| -> Vec<f32> {
                    let number =
                        |i: usize| x.0[[layer, i / shape.head_dim, position, i % shape.head_dim]];
                    (0..shape.kv_heads * shape.head_dim).map(number).collect()
                };
                cache.write(layer, 0, position, &row(&keys), &row(&values));
            }
            cache.advance(0, position);
        }
        let key = rust::PromptKey::new(fingerprint.0, cache_type.into(), shape);
        rust::encode(&cache, 0, &tokens, key)
    })
}

/// Tokens, keys and values.
type Decoded = (Vec<u32>, Floats, Floats);

/// Decodes a file. Returns its tokens, and its keys and values `[layers, H, n, D]`.
#[pyfunction]
fn decode(
    file: Octets,
    fingerprint: Long,
    cache_type: CacheType,
    layers: Count,
    kv_heads: Count,
    head_dim: Count,
) -> PyResult<Decoded> {
    let (layers, kv_heads, head_dim) = (layers.0, kv_heads.0, head_dim.0);
    let shape = CacheShape { layers, sequences: 1, kv_heads, capacity: 1, head_dim };
    check(shape, cache_type)?;
    attempt(move || {
        let key = rust::PromptKey::new(fingerprint.0, cache_type.into(), shape);
        let prompt = rust::decode(&file.0, key)?;
        let n = prompt.tokens.len();
        let shape = CacheShape { capacity: n, ..shape };
        let mut cache = DenseCache::new(shape, cache_type.into());
        prompt.restore(&mut FromWords(&mut cache), 0, n);
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (layer, head) in (0..layers).flat_map(|l| (0..kv_heads).map(move |h| (l, h))) {
            let run = cache.run(layer, 0, head, 0..n);
            keys.extend(numbers(run.keys, head_dim, cache.holds_q8()));
            values.extend(numbers(run.values, head_dim, cache.holds_q8()));
        }
        let shape = [layers, kv_heads, n, head_dim];
        Ok((prompt.tokens, Floats(tensor(&shape, keys)), Floats(tensor(&shape, values))))
    })
}
