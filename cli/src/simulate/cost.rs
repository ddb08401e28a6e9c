//! The cost of a step: `a + b · rows + c · positions`, given on the command line or measured here.

use std::{str::FromStr, time::Instant};

use anyhow::{Result, anyhow, ensure};

use crate::{Batch, StepWork};
use tiny_llm_formats::request::{Event, Extras, Request};

/// Coefficients of a step's time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepCost {
    /// Seconds per step, for reading the weights.
    pub step: f64,
    /// Seconds per row.
    pub row: f64,
    /// Seconds per cache position that a row attends to.
    pub position: f64,
}

impl StepCost {
    /// Returns the seconds that a step with this work takes.
    #[must_use]
    pub fn of(&self, work: StepWork) -> f64 {
        self.step + self.row * work.rows as f64 + self.position * work.positions as f64
    }

    /// Formats the cost as on the command line.
    pub(super) fn spelled(&self) -> String {
        let Self { step, row, position } = self;
        format!("{:.4},{:.3},{:.3}", step * 1e3, row * 1e6, position * 1e9)
    }
}

impl FromStr for StepCost {
    type Err = String;

    /// Parses a cost: milliseconds per step, microseconds per row, nanoseconds per position.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Vec<f64> =
            text.split(',').map_while(|part| part.trim().parse().ok()).collect();
        match numbers[..] {
            [step, row, position]
                if text.split(',').count() == 3
                    && numbers.iter().all(|x| x.is_finite() && *x >= 0.0)
                    && step + row > 0.0 =>
            {
                Ok(Self { step: step * 1e-3, row: row * 1e-6, position: position * 1e-9 })
            }
            _ => Err(format!(
                "found {text:?}, expected three numbers, for example 5,1000,20 (milliseconds per step, microseconds per token, nanoseconds per position)"
            )),
        }
    }
}

/// A measured step.
#[derive(Debug, Clone, Copy)]
struct Sample {
    work: StepWork,
    seconds: f64,
}

/// Coefficients fitted to measured steps, and the error of the fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    pub cost: StepCost,
    /// Median of the absolute relative errors.
    pub median_error: f64,
    /// 90th percentile of the absolute relative errors.
    pub largest_error: f64,
    pub steps: usize,
}

/// Batch sizes to measure.
const BATCHES: [usize; 5] = [1, 2, 4, 8, 16];
/// Number of new tokens of each request in a measured batch.
const NEW_TOKENS: usize = 12;

/// Measures step times of batches of several sizes with contexts of several lengths, and fits the
/// cost to them.
pub(super) fn measure(batch: &mut dyn Batch, context: usize, vocabulary: usize) -> Result<Fit> {
    ensure!(
        context > 2 * NEW_TOKENS,
        "a context of {context} tokens is too short for a measurement; expected at least {}",
        2 * NEW_TOKENS + 1
    );
    let longest = context - NEW_TOKENS;
    let prompts = [longest.min(8), longest / 4, longest / 2];
    let mut samples = Vec::new();
    for size in BATCHES {
        for prompt in prompts {
            measure_one(batch, size, prompt.max(1), vocabulary, &mut samples)?;
        }
    }
    fit(&samples).ok_or_else(|| {
        anyhow!("a step's cost cannot be computed from the measured times; give it with --cost")
    })
}

fn measure_one(
    batch: &mut dyn Batch,
    size: usize,
    prompt: usize,
    vocabulary: usize,
    samples: &mut Vec<Sample>,
) -> Result<()> {
    let mut left = size;
    for i in 0..size {
        let token = |j: usize| ((i * 31 + j * 17) % vocabulary) as u32;
        let prompt = (0..prompt).map(token).collect();
        batch.submit(Request::greedy(prompt, NEW_TOKENS), None, Extras::default())?;
    }
    let mut before: Vec<(u64, usize)> = Vec::new();
    while left > 0 {
        let start = Instant::now();
        batch.step(&mut |event| {
            left -= usize::from(matches!(event, Event::Finished { .. }));
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let now: Vec<(u64, usize)> =
            batch.rows().iter().map(|row| (row.id, row.computed)).collect();
        // A request's last step is not a sample, because the request is no longer among the rows.
        if now.len() >= before.len() {
            samples.push(Sample { work: work(&before, &now), seconds });
        }
        before = now;
    }
    Ok(())
}

/// Returns the work of a step, from each request's number of computed tokens before and after the
/// step.
fn work(before: &[(u64, usize)], after: &[(u64, usize)]) -> StepWork {
    let mut work = StepWork::default();
    for &(id, end) in after {
        let start = before.iter().find(|row| row.0 == id).map_or(0, |row| row.1);
        work.rows += (end - start) as u64;
        work.positions += (start..end).map(|position| position as u64 + 1).sum::<u64>();
    }
    work
}

/// Finds the coefficients that minimize the sum of the squared relative errors. If a coefficient is
/// negative, sets it to 0 and fits the others again.
fn fit(samples: &[Sample]) -> Option<Fit> {
    let terms = |sample: &Sample| [1.0, sample.work.rows as f64, sample.work.positions as f64];
    let mut used = [true; 3];
    let x = loop {
        let (mut a, mut b) = ([[0.0; 3]; 3], [0.0; 3]);
        for sample in samples.iter().filter(|sample| sample.seconds > 0.0) {
            let terms = terms(sample).map(|term| term / sample.seconds);
            for (i, row) in a.iter_mut().enumerate() {
                b[i] += terms[i];
                row.iter_mut().zip(terms).for_each(|(a, term)| *a += terms[i] * term);
            }
        }
        for (i, used) in used.iter().enumerate() {
            if !used {
                a.iter_mut().for_each(|row| row[i] = 0.0);
                (a[i], a[i][i], b[i]) = ([0.0; 3], 1.0, 0.0);
                a[i][i] = 1.0;
            }
        }
        let x = solve(a, b)?;
        match (0..3).find(|&i| x[i] < 0.0) {
            Some(i) => used[i] = false,
            None => break x,
        }
    };
    let cost = StepCost { step: x[0], row: x[1], position: x[2] };
    let mut errors: Vec<f64> =
        samples.iter().map(|sample| (cost.of(sample.work) / sample.seconds - 1.0).abs()).collect();
    errors.sort_unstable_by(f64::total_cmp);
    Some(Fit {
        cost,
        median_error: errors[errors.len() / 2],
        largest_error: errors[errors.len() * 9 / 10],
        steps: errors.len(),
    })
}

/// Solves `a · x = b` by Gauss-Jordan elimination with pivoting. Returns `None` if `a` is singular.
fn solve(mut a: [[f64; 3]; 3], mut b: [f64; 3]) -> Option<[f64; 3]> {
    for i in 0..3 {
        let pivot = (i..3).max_by(|&j, &k| a[j][i].abs().total_cmp(&a[k][i].abs()))?;
        a.swap(i, pivot);
        b.swap(i, pivot);
        if a[i][i] == 0.0 {
            return None;
        }
        for j in (0..3).filter(|&j| j != i) {
            let factor = a[j][i] / a[i][i];
            let row = a[i];
            a[j].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
            b[j] -= factor * b[i];
        }
    }
    Some([b[0] / a[0][0], b[1] / a[1][1], b[2] / a[2][2]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_recovers_the_cost_of_the_samples() {
        let cost = StepCost { step: 5e-3, row: 1e-3, position: 2e-8 };
        let works = [(1, 10), (1, 900), (4, 100), (16, 16_000), (200, 20_100), (3, 7)];
        let mut samples: Vec<Sample> = works
            .map(|(rows, positions)| StepWork { rows, positions })
            .map(|work| Sample { work, seconds: cost.of(work) })
            .into();
        let exact = fit(&samples).expect("six steps");
        for (found, expected) in [
            (exact.cost.step, cost.step),
            (exact.cost.row, cost.row),
            (exact.cost.position, cost.position),
        ] {
            assert!((found / expected - 1.0).abs() < 1e-6, "{exact:?}");
        }
        assert!(exact.largest_error < 1e-6);
        samples[0].seconds *= 1.1;
        let off = fit(&samples).expect("six steps");
        assert!(off.largest_error > 0.01 && off.largest_error < 0.1, "{off:?}");
    }

    #[test]
    fn no_coefficient_is_negative() {
        let step =
            |rows, positions, seconds| Sample { work: StepWork { rows, positions }, seconds };
        let samples = [step(1, 10, 1.0), step(1, 900, 0.9), step(8, 80, 1.2), step(16, 200, 1.6)];
        let StepCost { step, row, position } = fit(&samples).expect("four steps").cost;
        assert!(step > 0.0 && row > 0.0 && position == 0.0, "{step} {row} {position}");
    }

    #[test]
    fn parses_and_formats_a_cost() {
        let cost: StepCost = "5,1000,20".parse().expect("three numbers");
        assert_eq!(cost, StepCost { step: 5e-3, row: 1e-3, position: 2e-8 });
        assert_eq!(cost.spelled(), "5.0000,1000.000,20.000");
        for wrong in ["", "1,2", "1,2,3,4", "1,x,3", "-1,2,3", "0,0,1", "nan,1,1"] {
            assert!(wrong.parse::<StepCost>().is_err(), "{wrong}");
        }
    }
}
