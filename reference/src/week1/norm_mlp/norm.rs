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
        // SOLUTION week1-day4 task 1
        assert_eq!(
            x.shape().last(),
            self.weight.shape().first(),
            "RmsNorm: x {:?} does not fit weight {:?}",
            x.shape(),
            self.weight.shape()
        );
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean_square = row.fold(0.0, |sum: f32, &v| sum + v * v) / row.len() as f32;
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
        // END SOLUTION
    }
}
