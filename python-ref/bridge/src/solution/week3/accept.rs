//! Day 6: the exact rule.

use pyo3::prelude::*;

use super::{
    super::{
        rust::week1::sampling::Rng,
        week1::sampling::{SamplerOptions, Seed},
    },
    rust::accept as rust,
};
use crate::{
    background::call,
    convert::{Count, Double, Floats, Ids, Real, vector},
    shapes::{Shapes, every, vocabulary, wrong},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(distribution, m)?)?;
    m.add_function(wrap_pyfunction!(accepts, m)?)?;
    m.add_function(wrap_pyfunction!(residual, m)?)?;
    m.add_function(wrap_pyfunction!(verify, m)?)
}

/// The distribution `[V]` that a sampler draws from, with `logits [V]`, after the tokens `seen`.
#[pyfunction]
fn distribution(
    py: Python<'_>,
    options: SamplerOptions,
    logits: Floats,
    seen: Ids<1>,
) -> PyResult<Floats> {
    Shapes::default().fit("logits", "V", &logits)?;
    every("logits", &logits.0, "numbers of at most 1e30 in size", |x| x.abs() <= 1e30)?;
    let (logits, seen) = (logits.to_vec(), seen.to_vec());
    if logits.is_empty() {
        return Err(wrong("logits", "none", "one at least: there is nothing to draw"));
    }
    vocabulary("seen", &seen, logits.len())?;
    options.stay_finite(&logits)?;
    let options = options.to_rust();
    call(py, move || rust::distribution(&options, &logits, &seen)).map(|p| vector(&p))
}

/// Whether a draft is kept, to which the target gives probability `p` and the proposer gave `q`.
#[pyfunction]
fn accepts(py: Python<'_>, p: Real, q: Real, uniform: Double) -> PyResult<bool> {
    for (argument, x, fine) in [
        ("p", p.0, (0.0..=1.0).contains(&p.0)),
        ("q", q.0, q.0 > 0.0 && q.0 <= 1.0),
        ("uniform", uniform.0 as f32, (0.0..1.0).contains(&uniform.0)),
    ] {
        if !fine {
            return Err(wrong(argument, &x.to_string(), "a probability, 0 to 1"));
        }
    }
    call(py, move || rust::accepts(p.0, q.0, uniform.0))
}

fn probabilities(argument: &str, x: &Floats) -> PyResult<()> {
    every(argument, &x.0, "probabilities, 0 to 1", |x| (0.0..=1.0).contains(&x))
}

/// What a token is drawn from where a draft was refused. `p [V]`, `q [V]` → `[V]`
#[pyfunction]
fn residual(py: Python<'_>, p: Floats, q: Floats) -> PyResult<Vec<f64>> {
    let mut shapes = Shapes::default();
    shapes.fit("p", "V", &p)?;
    shapes.fit("q", "V", &q)?;
    probabilities("p", &p)?;
    probabilities("q", &q)?;
    let (p, q) = (p.to_vec(), q.to_vec());
    call(py, move || rust::residual(&p, &q))
}

/// How many of the drafts `tokens [k]`, drawn from `q [k, V]`, are kept by `p [k + 1, V]`, and the
/// token behind them.
#[pyfunction]
fn verify(
    py: Python<'_>,
    tokens: Ids<1>,
    q: Floats,
    p: Floats,
    seed: Seed,
) -> PyResult<(usize, u32)> {
    let tokens = tokens.to_vec();
    let mut shapes = Shapes::default();
    shapes.set("k", tokens.len(), "tokens");
    shapes.set("rows", tokens.len() + 1, "tokens and the last");
    shapes.fit("p", "rows V", &p)?;
    if !tokens.is_empty() {
        shapes.fit("q", "k V", &q)?;
    }
    let size = shapes.size("V");
    vocabulary("tokens", &tokens, size)?;
    probabilities("p", &p)?;
    probabilities("q", &q)?;
    let rows = |x: &Floats| -> Vec<Vec<f32>> {
        x.to_vec().chunks(size.max(1)).map(<[f32]>::to_vec).collect()
    };
    let p = rows(&p);
    if p.iter().any(|row| row.iter().all(|x| *x == 0.0)) {
        return Err(wrong("p", "a row of zeros", "a token at least that can be drawn"));
    }
    let drafts = tokens.into_iter().zip(rows(&q));
    let drafts: Vec<_> = drafts.map(|(token, q)| rust::Draft { token, q }).collect();
    let verdict =
        call(py, move || rust::verify(&drafts, |i| p[i].clone(), &mut Rng::new(seed.number())))?;
    Ok((verdict.accepted, verdict.next))
}

/// A number of drafts that a test may ask for.
pub(super) fn few(argument: &str, n: Count) -> PyResult<usize> {
    const MOST: usize = 1 << 12;
    if n.0 > MOST {
        return Err(wrong(argument, &n.0.to_string(), &format!("at most {MOST}")));
    }
    Ok(n.0)
}
