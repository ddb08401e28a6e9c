//! Integer scales: converts the scales of a K-quant's block to integers with a common factor.

use half::f16;

/// Returns the integer nearest to `x`, ties to even, for `|x| < 2²²`. After 1.5 · 2²³ is added, an
/// f32 has no bits left for a fraction. `round_ties_even` would be a function call unless the
/// compiler may use an instruction for it.
pub fn nearest(x: f32) -> f32 {
    const NO_FRACTION: f32 = 12_582_912.0;
    (x + NO_FRACTION) - NO_FRACTION
}

/// Returns the code of a weight: the integer in `low..=high` that is nearest to `x / scale`, or
/// `low` if `scale` is 0.
pub fn code(x: f32, scale: f32, low: f32, high: f32) -> f32 {
    if scale == 0.0 { low } else { nearest((x / scale).clamp(low, high)) }
}

/// Converts scales or minimums to integers in `0..=top` with a common factor `d`, so that the
/// largest becomes `top`. No value may be negative. Returns `d`, rounded to half precision, and the
/// integers.
pub fn share<const N: usize>(values: [f32; N], top: u8) -> (f32, [u8; N]) {
    let d = values.iter().fold(0f32, |m, &x| m.max(x)) / f32::from(top);
    // A cast from f32 saturates.
    let numbers = values.map(|x| if d > 0.0 { (nearest(x / d) as u8).min(top) } else { 0 });
    (f16::from_f32(d).to_f32(), numbers)
}

/// Like [`share`], for scales of either sign: converts them to integers in `−half..half` with a
/// common factor `d`, so that the scale with the largest magnitude becomes `−half`.
pub fn share_signed<const N: usize>(values: [f32; N], half: u8) -> (f32, [i8; N]) {
    let half = f32::from(half);
    let d = -largest_magnitude(&values) / half;
    let numbers = values.map(|x| code(x, d, -half, half - 1.0) as i8);
    (f16::from_f32(d).to_f32(), numbers)
}

/// Returns the element of `x` with the largest magnitude, including its sign. If several have that
/// magnitude, returns the first. Returns 0 for an empty slice.
pub fn largest_magnitude(x: &[f32]) -> f32 {
    x.iter().fold(0f32, |largest, &x| if x.abs() > largest.abs() { x } else { largest })
}
