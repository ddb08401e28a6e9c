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
    // SOLUTION week4-day1 task 4
    let (from, to) = (a.layout, b.layout);
    ensure!(
        from.ne[0] == to.ne[0],
        "mul_mat of {from} and {to}: found rows of {} and of {} elements, expected equal lengths",
        from.ne[0],
        to.ne[0]
    );
    ensure!(
        to.tensor_type == TensorType::F32,
        "mul_mat of {from} and {to}: found {} on the right, expected F32",
        to.tensor_type
    );
    for side in [from, to] {
        ensure!(
            side.has_whole_rows(),
            "mul_mat of {from} and {to}: found {side} with strides {:?}, whose rows are not \
             contiguous; make a contiguous copy of it",
            side.nb
        );
    }
    let [k, n, ne2, ne3] = to.ne;
    let a = a.with(from.broadcast([k, from.ne[1], ne2, ne3])?)?;
    let layout = Layout::new(TensorType::F32, &[from.ne[1], n, ne2, ne3])?;
    let mut out = Vec::with_capacity(layout.elements());
    let (mut left, mut right) = (vec![0.0; k], vec![0.0; k]);
    for i3 in 0..ne3 {
        for i2 in 0..ne2 {
            for j in 0..n {
                b.read_row([0, j, i2, i3], &mut right);
                for i in 0..from.ne[1] {
                    a.read_row([0, i, i2, i3], &mut left);
                    out.push(left.iter().zip(&right).map(|(x, y)| x * y).sum());
                }
            }
        }
    }
    Ok((layout, out))
    // END SOLUTION
}
