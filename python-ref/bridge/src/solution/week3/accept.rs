//! Day 6: the exact rule.

use super::{
    super::{rust::week1::sampling::Rng, week1::sampling::SamplerOptions},
    rust::accept as rust,
};
use crate::prelude::*;

exports! { fn distribution, accepts, residual, verify; }

/// The distribution `[V]` that a sampler draws from, with `logits [V]`, after the tokens `seen`.
#[pyfunction]
fn distribution(options: SamplerOptions, logits: Floats, seen: Ids<1>) -> PyResult<Floats> {
    fit!(logits = "V");
    at_most("logits", &logits, 1e30)?;
    let (logits, seen) = (logits.to_vec(), seen.to_vec());
    refuse_if!(logits.is_empty(); "logits", "none"; "at least one: there is nothing to draw");
    vocabulary("seen", &seen, logits.len())?;
    options.stay_finite(&logits)?;
    let options = options.to_rust();
    call(move || rust::distribution(&options, &logits, &seen)).map(|p| vector(&p))
}

/// Whether a draft is kept, to which the target gives probability `p` and the proposer gave `q`.
#[pyfunction]
fn accepts(p: Real, q: Real, uniform: Double) -> PyResult<bool> {
    for (argument, x, fine) in [
        ("p", p.0, (0.0..=1.0).contains(&p.0)),
        ("q", q.0, q.0 > 0.0 && q.0 <= 1.0),
        ("uniform", uniform.0 as f32, (0.0..1.0).contains(&uniform.0)),
    ] {
        refuse_if!(!fine; argument, x; "a probability, 0 to 1");
    }
    call(move || rust::accepts(p.0, q.0, uniform.0))
}

fn probabilities(argument: &str, x: &Floats) -> PyResult<()> {
    every(argument, &x.0, "probabilities, 0 to 1", |x| (0.0..=1.0).contains(&x))
}

/// What a token is drawn from where a draft was refused. `p [V]`, `q [V]` → `[V]`
#[pyfunction]
fn residual(p: Floats, q: Floats) -> PyResult<Vec<f64>> {
    fit!(p = "V", q = "V");
    probabilities("p", &p)?;
    probabilities("q", &q)?;
    let (p, q) = (p.to_vec(), q.to_vec());
    call(move || rust::residual(&p, &q))
}

/// How many of the drafts `tokens [k]`, drawn from `q [k, V]`, are kept by `p [k + 1, V]`, and the
/// token behind them.
#[pyfunction]
fn verify(tokens: Ids<1>, q: Floats, p: Floats, seed: Long) -> PyResult<(usize, u32)> {
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
    refuse_if!(p.iter().any(|row| row.iter().all(|x| *x == 0.0)); "p", "a row of zeros";
        "at least one token that can be drawn");
    let drafts = tokens.into_iter().zip(rows(&q));
    let drafts: Vec<_> = drafts.map(|(token, q)| rust::Draft { token, q }).collect();
    let verdict = call(move || rust::verify(&drafts, |i| p[i].clone(), &mut Rng::new(seed.0)))?;
    Ok((verdict.accepted, verdict.next))
}

/// A number of drafts that a test may ask for.
pub(super) fn few(argument: &str, n: Count) -> PyResult<usize> {
    const MOST: usize = 1 << 12;
    refuse_if!(n.0 > MOST; argument, n.0; "at most {MOST}");
    Ok(n.0)
}
