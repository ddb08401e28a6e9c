//! Day 7. Functions that change logits in place in Rust return them here.

use super::rust::sampling as rust;
use crate::prelude::*;

exports! {
    fn apply_temperature, top_k, top_p, min_p, repetition_penalty, draw;
    class Rng, SamplerOptions, Sampler;
}

/// Returns `logits [V]`, after checking that each is finite or −inf.
fn checked(logits: Floats) -> PyResult<Vec<f32>> {
    fit!(logits = "V");
    every("logits", &logits.0, "numbers, or −inf for what is ruled out", |x| x < f32::INFINITY)?;
    Ok(logits.to_vec())
}

/// Returns `logits [V]`, after also checking that at least one is finite.
fn possible(logits: Floats) -> PyResult<Vec<f32>> {
    let logits = checked(logits)?;
    refuse_if!(logits.iter().all(|x| *x == f32::NEG_INFINITY); "logits", "−inf throughout";
        "at least one number: there is nothing to draw");
    Ok(logits)
}

/// Returns the value of an option, or an error if `fine` is false for it.
fn option(argument: &str, x: f32, expected: &str, fine: impl Fn(f32) -> bool) -> PyResult<f32> {
    if fine(x) { Ok(x) } else { Err(wrong(argument, x, expected)) }
}

fn temperature_of(x: Real) -> PyResult<f32> {
    option("temperature", x.0, "a number from 0 on", |x| x >= 0.0)
}

fn top_p_of(argument: &str, x: Real) -> PyResult<f32> {
    option(argument, x.0, "a probability, 0 to 1", |x| x >= 0.0)
}

fn min_p_of(argument: &str, x: Real) -> PyResult<f32> {
    option(argument, x.0, "a ratio, 0 to 1", |x| (0.0..=1.0).contains(&x))
}

fn penalty_of(argument: &str, x: Real) -> PyResult<f32> {
    option(argument, x.0, "a number above 0", |x| x > 0.0)
}

/// Checks that dividing the logits by `by` does not overflow f32.
fn stay_finite(argument: &str, by: f32, logits: &[f32]) -> PyResult<()> {
    let largest = logits.iter().filter(|x| x.is_finite()).fold(0f32, |m, x| m.max(x.abs()));
    if (largest / by).is_finite() {
        return Ok(());
    }
    let expected = format!("one that logits of up to {largest} stay finite with");
    Err(wrong(argument, format_args!("{by:e}"), expected))
}

fn shaped(
    mut logits: Vec<f32>,
    shape: impl FnOnce(&mut [f32]) + Send + 'static,
) -> PyResult<Floats> {
    let logits = call(move || {
        shape(&mut logits);
        logits
    })?;
    Ok(vector(&logits))
}

/// Divides `logits [V]` by `temperature`. If it is 0, keeps only the largest logit.
#[pyfunction]
fn apply_temperature(logits: Floats, temperature: Real) -> PyResult<Floats> {
    let (logits, temperature) = (checked(logits)?, temperature_of(temperature)?);
    if temperature > 0.0 {
        stay_finite("temperature", temperature, &logits)?;
    }
    shaped(logits, move |logits| rust::apply_temperature(logits, temperature))
}

/// Keeps the `k` largest of `logits [V]`. If `k` is 0, keeps all.
#[pyfunction]
fn top_k(logits: Floats, k: Count) -> PyResult<Floats> {
    shaped(checked(logits)?, move |logits| rust::top_k(logits, k.0))
}

/// Keeps the most probable of `logits [V]` until their probabilities sum to at least `p`.
#[pyfunction]
fn top_p(logits: Floats, p: Real) -> PyResult<Floats> {
    let (logits, p) = (checked(logits)?, top_p_of("p", p)?);
    shaped(logits, move |logits| rust::top_p(logits, p))
}

/// Keeps those of `logits [V]` that are at least `p` times as probable as the most probable one.
#[pyfunction]
fn min_p(logits: Floats, p: Real) -> PyResult<Floats> {
    let (logits, p) = (checked(logits)?, min_p_of("p", p)?);
    shaped(logits, move |logits| rust::min_p(logits, p))
}

/// Makes every token of `seen` less likely. Divides positive `logits [V]` by `penalty` and
/// multiplies negative ones by it.
#[pyfunction]
fn repetition_penalty(logits: Floats, seen: Ids<1>, penalty: Real) -> PyResult<Floats> {
    let (logits, penalty) = (checked(logits)?, penalty_of("penalty", penalty)?);
    let seen = seen.to_vec();
    vocabulary("seen", &seen, logits.len())?;
    stay_finite("penalty", penalty, &logits)?;
    stay_finite("penalty", 1.0 / penalty, &logits)?;
    shaped(logits, move |logits| rust::repetition_penalty(logits, &seen, penalty))
}

/// A seeded random number generator, SplitMix64.
#[pyclass(from_py_object)]
#[derive(Clone)]
pub(crate) struct Rng(rust::Rng);

#[pymethods]
impl Rng {
    #[new]
    fn new(seed: Long) -> PyResult<Self> {
        catch(|| rust::Rng::new(seed.0)).map(Self)
    }

    /// Returns the next 64 bits.
    fn next_u64(&mut self) -> PyResult<u64> {
        catch(|| self.0.next_u64())
    }

    /// Returns the next number in `[0, 1)`.
    fn uniform(&mut self) -> PyResult<f64> {
        catch(|| self.0.uniform())
    }

    fn __repr__(&self) -> &'static str {
        "Rng(seed=...)"
    }
}

/// Returns the token at which the sum of `softmax(logits)`, in id order, first exceeds `uniform`.
#[pyfunction]
fn draw(logits: Floats, uniform: Double) -> PyResult<u32> {
    let (logits, uniform) = (possible(logits)?, uniform.0);
    refuse_if!(!(0.0..1.0).contains(&uniform); "uniform", uniform; "a number from 0 to below 1");
    call(move || rust::draw(&logits, uniform))
}

/// The options of a sampler. The defaults leave the model's distribution unchanged.
#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct SamplerOptions {
    /// Divisor of the logits. 0 is greedy, 1 changes nothing.
    temperature: f32,
    /// Number of largest logits to keep. 0 keeps all.
    top_k: usize,
    /// Minimum probability of the kept tokens together. 1 keeps all.
    top_p: f32,
    /// Minimum ratio of a kept token's probability to the largest one. 0 keeps all.
    min_p: f32,
    /// Divides positive logits of seen tokens and multiplies negative ones. 1 changes nothing.
    repetition_penalty: f32,
}

impl SamplerOptions {
    pub(crate) fn to_rust(&self) -> rust::SamplerOptions {
        let Self { temperature, top_k, top_p, min_p, repetition_penalty } = *self;
        rust::SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty }
    }
}

impl SamplerOptions {
    /// Rejects options with which `logits` could overflow f32.
    pub(crate) fn stay_finite(&self, logits: &[f32]) -> PyResult<()> {
        let Self { temperature, repetition_penalty, .. } = *self;
        // A penalty divides a logit or multiplies it.
        for by in [repetition_penalty, 1.0 / repetition_penalty] {
            stay_finite("repetition_penalty", by, logits)?;
            if temperature > 0.0 {
                stay_finite("temperature", temperature * by.min(1.0), logits)?;
            }
        }
        Ok(())
    }
}

#[pymethods]
impl SamplerOptions {
    #[new]
    #[pyo3(
        signature = (
            *, temperature=Real(1.0), top_k=Count(0), top_p=Real(1.0), min_p=Real(0.0),
            repetition_penalty=Real(1.0)
        ),
        text_signature = "(*, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, \
                          repetition_penalty=1.0)"
    )]
    fn new(
        temperature: Real,
        top_k: Count,
        top_p: Real,
        min_p: Real,
        repetition_penalty: Real,
    ) -> PyResult<Self> {
        Ok(Self {
            temperature: temperature_of(temperature)?,
            top_k: top_k.0,
            top_p: top_p_of("top_p", top_p)?,
            min_p: min_p_of("min_p", min_p)?,
            repetition_penalty: penalty_of("repetition_penalty", repetition_penalty)?,
        })
    }

    fn __repr__(&self) -> String {
        let Self { temperature, top_k, top_p, min_p, repetition_penalty } = self;
        format!(
            "SamplerOptions(temperature={temperature}, top_k={top_k}, top_p={top_p}, \
             min_p={min_p}, repetition_penalty={repetition_penalty})"
        )
    }
}

/// A sampler: applies all options in order, then draws a token. It copies `rng`, so its draws do
/// not change `rng`.
#[pyclass]
pub(crate) struct Sampler {
    options: SamplerOptions,
    sampler: Kept<rust::Sampler>,
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(options: SamplerOptions, rng: Rng) -> Self {
        let sampler = rust::Sampler { options: options.to_rust(), rng: rng.0 };
        Self { options, sampler: Kept::new(sampler) }
    }

    /// Chooses the next token from `logits [V]`, after the tokens `seen` so far.
    fn choose(&mut self, logits: Floats, seen: Ids<1>) -> PyResult<u32> {
        let (logits, seen) = (possible(logits)?, seen.to_vec());
        vocabulary("seen", &seen, logits.len())?;
        self.options.stay_finite(&logits)?;
        self.sampler.call(move |sampler| sampler.choose(&logits, &seen))
    }

    fn __repr__(&self) -> String {
        format!("Sampler({})", self.options.__repr__())
    }
}
