//! Day 7: rows of integers, attention over an int8 cache, and a streamed model.

use super::rust::streamed::{
    arena::Arena,
    engine::{Engine, Options},
    error::Error,
    head::TopK,
    int8,
    layer::Cache,
    ledger::Ledger,
    shape::TINY_LLM,
    store::Store,
};
use crate::prelude::*;

exports! { fn quantize_int8, quantize_int16, dot, attend, best, run; }

/// Maximum number of bytes that a test may use.
const MOST: usize = 1 << 26;

/// Quantizes `x [n]` to int8. Returns the integers and the scale.
#[pyfunction]
fn quantize_int8(x: Floats) -> PyResult<(Vec<i16>, f32)> {
    fit!(x = "n");
    at_most("x", &x, 1e30)?;
    let x = x.to_vec();
    call(move || {
        let mut out = vec![0; x.len()];
        let scale = int8::quantize_int8(&x, &mut out);
        (out.into_iter().map(i16::from).collect(), scale)
    })
}

/// Quantizes `x [n]` to int16. Returns the integers and the scale.
#[pyfunction]
fn quantize_int16(x: Floats) -> PyResult<(Vec<i16>, f32)> {
    fit!(x = "n");
    at_most("x", &x, 1e30)?;
    let x = x.to_vec();
    call(move || {
        let mut out = vec![0; x.len()];
        let scale = int8::quantize_int16(&x, &mut out);
        (out, scale)
    })
}

/// Returns the dot product of `weights [n]` and `x [n]`.
#[pyfunction]
fn dot(weights: Vec<i8>, x: Vec<i16>) -> PyResult<i64> {
    refuse_if!(weights.len() != x.len(); "x", x.len(); "{} numbers, as weights has", weights.len());
    call(move || int8::dot(&weights, &x))
}

/// Computes attention of `q [H_q, D]` over a cache with `keys` and `values [n, H, D]`.
#[pyfunction]
fn attend(keys: Floats, values: Floats, q: Floats) -> PyResult<Floats> {
    let shapes = fit!(keys = "n H D", values = "n H D", q = "Hq D");
    let [positions, kv_heads, head_dim, heads] = ["n", "H", "D", "Hq"].map(|x| shapes.size(x));
    for (name, size) in [("keys", positions), ("keys", kv_heads), ("keys", head_dim)] {
        at_least_one(name, size)?;
    }
    divides("keys", kv_heads, heads, "query heads")?;
    for (name, x) in [("keys", &keys), ("values", &values), ("q", &q)] {
        at_most(name, x, 1e6)?;
    }
    let bytes = 12 * positions * kv_heads * (head_dim + 2) + 64 * (positions + head_dim) + 1024;
    enough("keys", bytes)?;
    let out = call(move || -> Result<_, Error> {
        let (mut memory, ledger) = (vec![0u8; bytes], Ledger::default());
        let mut arena = Arena::new(&mut memory, &ledger);
        let shape = super::rust::streamed::shape::Shape { kv_heads, head_dim, ..TINY_LLM };
        let mut cache = Cache::new(&mut arena, &shape, positions)?;
        let (keys, values, size) = (keys.to_vec(), values.to_vec(), kv_heads * head_dim);
        for (keys, values) in keys.chunks_exact(size).zip(values.chunks_exact(size)) {
            cache.push(keys, values)?;
        }
        let mut out = vec![0.0; heads * head_dim];
        cache.attend(&q.to_vec(), arena, &mut out)?;
        Ok(Floats(tensor(&[heads, head_dim], out)))
    })?;
    out.map_err(refused)
}

/// Returns the `k` best tokens of `logits [V]`, offered one after the other, with their logits.
#[pyfunction]
fn best(logits: Floats, k: Count) -> PyResult<Vec<(u32, f32)>> {
    fit!(logits = "V");
    enough("k", k.0.saturating_mul(8))?;
    let best = call(move || -> Result<_, Error> {
        let (mut memory, ledger) = (vec![0u8; 8 * k.0 + 16], Ledger::default());
        let mut arena = Arena::new(&mut memory, &ledger);
        let mut top = TopK::new(&mut arena, k.0)?;
        for (token, logit) in (0..).zip(logits.to_vec()) {
            top.offer(token, logit);
        }
        Ok(top.best().collect())
    })?;
    best.map_err(refused)
}

/// The best tokens after each token, with logits. The reads, seeks and bytes. The peak memory.
type Ran = (Vec<Vec<(u32, f32)>>, (u64, u64, u64), usize);

/// Runs the model in `file` in `budget` bytes of memory. Returns the `k` best tokens after each of
/// `tokens [L]` with their logits, the reads, seeks and bytes read, and the peak memory.
#[pyfunction]
fn run(file: Vec<u8>, tokens: Ids<1>, chunk_rows: Count, k: Count, budget: Count) -> PyResult<Ran> {
    let tokens = tokens.to_vec();
    enough("budget", budget.0)?;
    enough("chunk_rows", chunk_rows.0)?;
    enough("k", k.0)?;
    let ran = call(move || -> Result<_, Error> {
        let (mut memory, ledger) = (vec![0u8; budget.0], Ledger::default());
        let arena = Arena::new(&mut memory, &ledger);
        let options = Options { positions: tokens.len(), chunk_rows: chunk_rows.0, top_k: k.0 };
        let mut engine = Engine::new(Store::open(&file[..])?, arena, options)?;
        let mut all = Vec::new();
        for token in tokens {
            engine.feed(token)?;
            all.push(engine.best()?.collect());
        }
        let counts = engine.counts();
        Ok((all, (counts.reads, counts.seeks, counts.bytes), ledger.peak()))
    })?;
    ran.map_err(refused)
}

fn enough(argument: &str, bytes: usize) -> PyResult<()> {
    refuse_if!(bytes > MOST; argument, bytes; "at most {MOST} bytes");
    Ok(())
}

fn refused(error: Error) -> PyErr {
    value_error(anyhow::Error::new(error))
}
