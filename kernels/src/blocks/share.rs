//! Scales as whole numbers: what the blocks of all K-quants do once their scales are found.

use half::f16;

/// The nearest whole number, ties to even, for `|x| < 2²²`: at 1.5 · 2²³ an f32 has no room for a
/// fraction. Where the compiler may not assume an instruction for it, `round_ties_even` is a call.
#[must_use]
pub fn nearest(x: f32) -> f32 {
    const NO_FRACTION: f32 = 12_582_912.0;
    (x + NO_FRACTION) - NO_FRACTION
}

/// The code of a weight: the nearest to `x / scale` in `low..=high`; any will do if `scale` is 0.
#[must_use]
pub fn code(x: f32, scale: f32, low: f32, high: f32) -> f32 {
    if scale == 0.0 { low } else { nearest((x / scale).clamp(low, high)) }
}

/// Stores scales or minimums, none negative, as whole numbers `0..=top` times one `d`, with which
/// the largest becomes `top`. Returns `d` as it comes back from half precision, and the numbers.
#[must_use]
pub fn share<const N: usize>(values: [f32; N], top: u8) -> (f32, [u8; N]) {
    let d = values.iter().fold(0f32, |m, &x| m.max(x)) / f32::from(top);
    // The cast from f32 saturates, and so clamps.
    let numbers = values.map(|x| if d > 0.0 { (nearest(x / d) as u8).min(top) } else { 0 });
    (f16::from_f32(d).to_f32(), numbers)
}

/// As [`share`], for scales of either sign: whole numbers `−half..half` times one `d`, with which
/// that of largest magnitude becomes `−half`.
#[must_use]
pub fn share_signed<const N: usize>(values: [f32; N], half: u8) -> (f32, [i8; N]) {
    let half = f32::from(half);
    let d = -largest_magnitude(&values) / half;
    let numbers = values.map(|x| code(x, d, -half, half - 1.0) as i8);
    (f16::from_f32(d).to_f32(), numbers)
}

/// The number of largest magnitude, with its sign; the first of them. 0 if there is none.
#[must_use]
pub fn largest_magnitude(x: &[f32]) -> f32 {
    x.iter().fold(0f32, |largest, &x| if x.abs() > largest.abs() { x } else { largest })
}
