//! Days 5 and 6. Products of quantized matrices: a ladder of kernels, and the one place where a rung is chosen.

pub mod naive;

use std::{fmt, str::FromStr};

use super::{input::Input, matrix::Matrix, parallel::Team};

/// The rungs, slowest first. Each is checked against the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Decode a row into a buffer, then multiply.
    Naive,
}

impl Rung {
    /// Every rung that this machine can run, slowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        vec![Self::Naive]
    }

    /// The fastest that this machine can run.
    #[must_use]
    pub fn best() -> Self {
        *Self::available().last().expect("the naive rung runs everywhere")
    }

    /// Whether this rung multiplies int8 activations.
    #[must_use]
    pub fn wants_int8(self) -> bool {
        false
    }

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rung {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let available = Self::available();
        available.iter().copied().find(|rung| rung.name() == name).ok_or_else(|| {
            let names: Vec<_> = available.iter().map(|rung| rung.name()).collect();
            format!("found kernels {name:?}, expected one of {}, which this machine has", names.join(", "))
        })
    }
}

/// `out[t, r] = Σ weight[r, c] · x[t, c]`: `weight [R, C]`, `x [T, C]` → `out [T, R]`, on all threads of the team.
///
/// # Panics
/// If the sizes do not fit.
pub fn matmul(rung: Rung, team: &Team, weight: &Matrix, x: &Input, out: &mut [f32]) {
    assert_eq!(weight.cols, x.cols, "a matrix of {} columns times rows of {} values", weight.cols, x.cols);
    assert_eq!(out.len(), x.rows * weight.rows, "room for {} values, expected {} rows of {}", out.len(), x.rows, weight.rows);
    match rung {
        Rung::Naive => naive::matmul(team, weight, x, out),
    }
}
