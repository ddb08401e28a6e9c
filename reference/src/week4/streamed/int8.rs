//! Day 7. Quantizes a row of floats to integers with one scale, and multiplies rows of integers.
//!
//! Tasks here: week4-day7 task 1 (`quantize_int8`, `quantize_int16`, `dot`). Everything else is
//! provided.

use super::math::round;

/// The largest magnitude of a quantized weight. The value −128 is unused, because int8 has no +128.
pub const MOST_INT8: f32 = 127.0;

/// The largest magnitude of a quantized activation.
pub const MOST_INT16: f32 = 32_767.0;

/// Quantizes `x [n]` to int8 in `out`, and returns the scale:
///
/// - The scale is the largest magnitude divided by [`MOST_INT8`].
/// - If the scale is 0, as for a row of zeros, all values are 0.
/// - Otherwise each value is the element divided by the scale, rounded with [`round`], and clamped
///   to ±127. (A very small scale loses precision, so the quotient may exceed 127.)
/// - If an element is NaN or infinite, the scale is NaN, and `out` is unspecified.
///
/// # Panics
/// If the lengths differ.
#[must_use]
pub fn quantize_int8(x: &[f32], out: &mut [i8]) -> f32 {
    // SOLUTION week4-day7 task 1
    assert_eq!(x.len(), out.len(), "lengths of x and out");
    if !x.iter().all(|x| x.is_finite()) {
        return f32::NAN;
    }
    let scale = x.iter().fold(0.0f32, |most, x| most.max(x.abs())) / MOST_INT8;
    if scale == 0.0 {
        out.fill(0);
        return 0.0;
    }
    for (out, x) in out.iter_mut().zip(x) {
        *out = round(x / scale).clamp(-127, 127) as i8;
    }
    scale
    // END SOLUTION
}

/// Quantizes like [`quantize_int8`], but to int16, with [`MOST_INT16`] in place of [`MOST_INT8`].
///
/// # Panics
/// If the lengths differ.
#[must_use]
pub fn quantize_int16(x: &[f32], out: &mut [i16]) -> f32 {
    // SOLUTION week4-day7 task 1
    assert_eq!(x.len(), out.len(), "lengths of x and out");
    if !x.iter().all(|x| x.is_finite()) {
        return f32::NAN;
    }
    let scale = x.iter().fold(0.0f32, |most, x| most.max(x.abs())) / MOST_INT16;
    if scale == 0.0 {
        out.fill(0);
        return 0.0;
    }
    for (out, x) in out.iter_mut().zip(x) {
        *out = round(x / scale).clamp(-32_767, 32_767) as i16;
    }
    scale
    // END SOLUTION
}

/// Returns the exact dot product of `weights [n]` and `x [n]`, for any values and any length.
///
/// # Panics
/// If the lengths differ.
#[must_use]
pub fn dot(weights: &[i8], x: &[i16]) -> i64 {
    // SOLUTION week4-day7 task 1
    assert_eq!(weights.len(), x.len(), "lengths of weights and x");
    let mut sum = 0;
    // The sum of 256 products, each of magnitude at most 2²², fits into 32 bits.
    for (weights, x) in weights.chunks(256).zip(x.chunks(256)) {
        let products = weights.iter().zip(x).map(|(&w, &x)| i32::from(w) * i32::from(x));
        sum += i64::from(products.sum::<i32>());
    }
    sum
    // END SOLUTION
}

/// Quantized activations, the input of a product. Activation `i` is approximately
/// `values[i] · scale`.
#[derive(Debug, Clone, Copy)]
pub struct Activations<'a> {
    /// The activations as int16.
    pub values: &'a [i16],
    /// The scale, which is the same for all values.
    pub scale: f32,
}

impl<'a> Activations<'a> {
    /// Provided. Quantizes `x [n]` into `values [n]`.
    pub fn of(x: &[f32], values: &'a mut [i16]) -> Self {
        let scale = quantize_int16(x, values);
        Self { values, scale }
    }
}
