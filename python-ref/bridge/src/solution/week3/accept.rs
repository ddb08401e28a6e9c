//! Day 6: the exact rule for accepting drafts.

use super::{
    super::{rust::week1::sampling::Rng, week1::sampling::SamplerOptions},
    rust::accept as rust,
};
use crate::prelude::*;

exports! { fn distribution, accepts, residual, verify; }

/// Returns the distribution `[V]` from which a sampler draws, after the tokens `seen`.
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

/// Returns whether a draft is kept. The target's probability of it is `p`, the proposer's is `q`.
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

/// Returns the distribution from which a rejected draft is replaced: `p [V]`, `q [V]` → `[V]`.
#[pyfunction]
fn residual(p: Floats, q: Floats) -> PyResult<Vec<f64>> {
    fit!(p = "V", q = "V");
    probabilities("p", &p)?;
    probabilities("q", &q)?;
    let (p, q) = (p.to_vec(), q.to_vec());
    call(move || rust::residual(&p, &q))
}

/// Returns how many of the drafts `tokens [k]` are accepted, and the token after them. The drafts
/// are drawn from `q [k, V]`, and the target's distributions are `p [k + 1, V]`.
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

/// Returns `n`, a number of drafts. Rejects one that is too large for a test.
pub(super) fn few(argument: &str, n: Count) -> PyResult<usize> {
    const MOST: usize = 1 << 12;
    refuse_if!(n.0 > MOST; argument, n.0; "at most {MOST}");
    Ok(n.0)
}
