//! Measures how far decoded weights are from the original ones.
//!
//! Tasks here: week2-day3 task 4 (`rms_error`, `relative_error`, `round_trip_error`). Everything
//! else is provided.

use tiny_llm_formats::gguf::TensorType;

use super::{dequantize_row, quantize_row};

/// Returns the root mean square of the differences between `x [n]` and `y [n]`:
/// `sqrt(Σ (xi − yi)² / n)`. The sum is computed in f64.
///
/// # Panics
/// If `x` and `y` differ in length, or are empty.
#[must_use]
pub fn rms_error(x: &[f32], y: &[f32]) -> f64 {
    assert!(
        !x.is_empty() && x.len() == y.len(),
        "the error between {} values and {}",
        x.len(),
        y.len()
    );
    todo!("week2-day3 task 4: rms_error")
}

/// Returns the relative error of `y [n]`: [`rms_error`] divided by the root mean square of `x [n]`,
/// the original.
///
/// - If `x` and `y` are equal, the result is 0, even if `x` is all zeros.
/// - If `x` is all zeros and `y` is not, the result is infinite.
///
/// # Panics
/// If `x` and `y` differ in length, or are empty.
#[must_use]
pub fn relative_error(x: &[f32], y: &[f32]) -> f64 {
    todo!("week2-day3 task 4: relative_error")
}

/// Encodes `x [n]` as `tensor_type`, decodes it, and returns the [`relative_error`] of the result.
///
/// # Panics
/// If `x` is empty, or not a whole number of blocks. Also if `tensor_type` is `MXFP4`.
#[must_use]
pub fn round_trip_error(tensor_type: TensorType, x: &[f32]) -> f64 {
    todo!("week2-day3 task 4: round_trip_error")
}
