//! The tolerance of an answer. The grader includes this file in its own program.

use std::fmt;

/// How much a value may differ from the expected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Maximum absolute difference.
    Absolute(f32),
    /// Maximum difference, as a fraction of the larger magnitude of the two values.
    Relative(f32),
}

impl Tolerance {
    /// Returns whether `found` is close enough to `expected`. A NaN matches only a NaN, and an
    /// infinity only the same infinity.
    pub(crate) fn allows(self, found: f32, expected: f32) -> bool {
        let within = |bound: f32| {
            found.is_finite() && expected.is_finite() && (found - expected).abs() <= bound
        };
        found == expected
            || (found.is_nan() && expected.is_nan())
            || match self {
                Self::Absolute(bound) => within(bound),
                Self::Relative(part) => within(part * found.abs().max(expected.abs())),
            }
    }

    pub(crate) fn bound(self) -> f32 {
        match self {
            Self::Absolute(bound) | Self::Relative(bound) => bound,
        }
    }
}

impl From<f32> for Tolerance {
    fn from(bound: f32) -> Self {
        Self::Absolute(bound)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(0.0) | Self::Relative(0.0) => f.write_str("must be equal"),
            Self::Absolute(bound) => write!(f, "tolerance {bound:e}"),
            Self::Relative(bound) => write!(f, "tolerance {bound:e} of the value"),
        }
    }
}
