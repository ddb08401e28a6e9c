//! Day 1. A matrix product of views.
//!
//! Tasks here: week4-day1 task 4 (`mul_mat`). Everything else is provided.

use anyhow::{Result, ensure};
use tiny_llm_formats::gguf::TensorType;

use super::{layout::Layout, strided::Strided};

/// Multiplies every row of `a` by every row of `b`: `a [K, M, …]`, `b [K, N, …]` → f32 `[M, N, …]`,
/// stored one after the other. Axes 2 and 3 are those of `b`; along them, `a` may have one element,
/// which is then used for all.
///
/// # Errors
/// If rows are not equally long; if axes 2 and 3 of `a` do not broadcast to those of `b`; if `b` is
/// not f32; if a row of `a` or `b` is not contiguous: then the message names the strides. For sizes
/// that don't match, it names them; for the type, it names the one found and F32.
pub fn mul_mat(a: Strided<'_>, b: Strided<'_>) -> Result<(Layout, Vec<f32>)> {
    todo!("week4-day1 task 4: mul_mat")
}
