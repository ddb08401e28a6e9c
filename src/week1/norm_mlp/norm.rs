//! Day 4, first half. RMSNorm: divide by the root of the mean square.
//!
//! Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization".
//!
//! Tasks here: week1-day4 task 1 (`RmsNorm::forward`). Everything else is provided.

use ndarray::Axis;
use tiny_llm_formats::Tensor;

/// RMSNorm: `x / √(mean(x²) + eps) · weight` over the last axis.
#[derive(Debug, Clone)]
pub struct RmsNorm {
    /// Weight, `[E]`.
    pub weight: Tensor,
    /// Small number that is added to the mean square, so that the root is never 0.
    pub eps: f32,
}

impl RmsNorm {
    /// Normalises `x`: `[..., E]` → the same shape. Leaves `x` unchanged, because the residual
    /// connection still needs it.
    ///
    /// # Panics
    /// If the last axis of `x` does not have size `E`.
    pub fn forward(&self, x: &Tensor) -> Tensor {
        todo!("week1-day4 task 1: RmsNorm::forward")
    }
}
