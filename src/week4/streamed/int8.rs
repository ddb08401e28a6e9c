//! Day 7. Rows of whole numbers with one scale, and their products without a float.
//!
//! Tasks here: week4-day7 task 1 (`quantize_int8`, `quantize_int16`, `dot`). Everything else is
//! provided.

use super::math::round;

/// The most that a weight is: −128 has no counterpart above 0, so it is not used.
pub const MOST_INT8: f32 = 127.0;

/// The most that an activation is.
pub const MOST_INT16: f32 = 32_767.0;

/// `x [n]` as int8, with the scale that it returns: each `x` is about `out · scale`, and the largest
/// in size is ±127. A row of zeros has the scale 0. If a number is NaN or infinite the scale is NaN,
/// and `out` does not matter.
///
/// # Panics
/// If the lengths differ.
#[must_use]
pub fn quantize_int8(x: &[f32], out: &mut [i8]) -> f32 {
    todo!("week4-day7 task 1: quantize_int8")
}

/// The same in 16 bits: the largest in size is ±32,767.
///
/// # Panics
/// If the lengths differ.
#[must_use]
pub fn quantize_int16(x: &[f32], out: &mut [i16]) -> f32 {
    todo!("week4-day7 task 1: quantize_int16")
}

/// The sum of `weights [n]` times `x [n]`, exactly, whatever the numbers and however many they are.
///
/// # Panics
/// If the lengths differ.
#[must_use]
pub fn dot(weights: &[i8], x: &[i16]) -> i64 {
    todo!("week4-day7 task 1: dot")
}

/// Activations as they go into a product: each is about `values · scale`.
#[derive(Debug, Clone, Copy)]
pub struct Activations<'a> {
    /// int16
    pub values: &'a [i16],
    /// What one step is worth.
    pub scale: f32,
}

impl<'a> Activations<'a> {
    /// Provided. Of `x [n]`, in the memory of `values [n]`.
    pub fn of(x: &[f32], values: &'a mut [i16]) -> Self {
        let scale = quantize_int16(x, values);
        Self { values, scale }
    }
}
