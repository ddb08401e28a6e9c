//! Assertions that explain: which element, both values, both shapes, the tolerance.

use approx::AbsDiffEq;

use crate::Tensor;

/// Where two tensors of one shape differ most.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Index of the worst element, one number per axis.
    pub index: Vec<usize>,
    /// The value found there.
    pub found: f32,
    /// The value expected there.
    pub expected: f32,
    /// How many elements are out of tolerance.
    pub wrong: usize,
}

/// The worst element if any is out of tolerance. A NaN that was not expected is always out, and so is
/// an infinity that was not expected; an expected infinity or NaN must be met exactly.
///
/// # Panics
/// If the shapes differ.
#[must_use]
pub fn worst_mismatch(found: &Tensor, expected: &Tensor, tolerance: f32) -> Option<Mismatch> {
    assert_eq!(found.shape(), expected.shape(), "compare shapes first");
    let mut worst: Option<(f32, Mismatch)> = None;
    let mut wrong = 0;
    for ((index, &x), &y) in found.indexed_iter().zip(expected) {
        // `abs_diff_eq` is false for NaN and for inf − inf, so equal infinities and wanted NaNs are let through first.
        if x == y || (x.is_nan() && y.is_nan()) || x.abs_diff_eq(&y, tolerance) {
            continue;
        }
        wrong += 1;
        let distance = if (x - y).is_nan() { f32::INFINITY } else { (x - y).abs() };
        if worst.as_ref().is_none_or(|(d, _)| distance > *d) {
            let index = ndarray::Dimension::slice(&index).to_vec();
            worst = Some((distance, Mismatch { index, found: x, expected: y, wrong: 0 }));
        }
    }
    worst.map(|(_, m)| Mismatch { wrong, ..m })
}

/// Passes if both tensors have the same shape and no element is further than `tolerance` away.
///
/// # Panics
/// Otherwise, with a message that shows both shapes, the worst index, both values and the tolerance.
#[track_caller]
pub fn assert_close(what: &str, found: &Tensor, expected: &Tensor, tolerance: f32) {
    if let Err(message) = compare(what, found, expected, tolerance) {
        panic!("{message}");
    }
}

/// As [`assert_close`], but returns the message.
///
/// # Errors
/// The explanation, several lines of plain text.
pub fn compare(what: &str, found: &Tensor, expected: &Tensor, tolerance: f32) -> Result<(), String> {
    if found.shape() != expected.shape() {
        return Err(format!("{what}: wrong shape\n  found    {:?}\n  expected {:?}", found.shape(), expected.shape()));
    }
    let Some(m) = worst_mismatch(found, expected, tolerance) else { return Ok(()) };
    Err(format!(
        "{what}: {} of {} elements differ\n  worst at {:?}: found {}, expected {} (tolerance {tolerance:e})\n  shape    {:?}",
        m.wrong,
        found.len(),
        m.index,
        m.found,
        m.expected,
        found.shape(),
    ))
}
