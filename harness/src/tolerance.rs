//! How far from the expected value an answer may be.

use std::fmt;

use approx::{AbsDiffEq, RelativeEq};

/// How far a value may be from the expected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// At most this far.
    Absolute(f32),
    /// At most this part of the larger of the two magnitudes.
    Relative(f32),
}

impl Tolerance {
    /// A NaN that was not expected is always out, and so is an infinity that was not expected; an
    /// expected infinity or NaN must be met exactly.
    pub(crate) fn allows(self, found: f32, expected: f32) -> bool {
        // approx is false for NaN and for inf − inf, so equal infinities and wanted NaNs are let
        // through first.
        found == expected
            || (found.is_nan() && expected.is_nan())
            || match self {
                Self::Absolute(bound) => found.abs_diff_eq(&expected, bound),
                Self::Relative(bound) => found.relative_eq(&expected, 0.0, bound),
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
