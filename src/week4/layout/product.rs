//! Day 1. A matrix product of views.
//!
//! Tasks here: week4-day1 task 4 (`mul_mat`). Everything else is provided.

use anyhow::{Result, ensure};
use tiny_llm_formats::gguf::TensorType;

use super::{layout::Layout, strided::Strided};

/// Multiplies every row of `a` by every row of `b`: `a [K, M, …]`, `b [K, N, …]` → f32 `[M, N, …]`.
/// The result is contiguous. Axes 2 and 3 of the result have the sizes of `b`. If `a` has a single
/// element along one of these axes, `a` is broadcast along it.
///
/// # Errors
/// - If the rows of `a` and `b` differ in length, or axes 2 and 3 of `a` do not broadcast to those
///   of `b`. The message names the sizes.
/// - If `b` is not f32. The message names the type found, and F32.
/// - If a row of `a` or `b` is not contiguous. The message names the strides.
pub fn mul_mat(a: Strided<'_>, b: Strided<'_>) -> Result<(Layout, Vec<f32>)> {
    todo!("week4-day1 task 4: mul_mat")
}
