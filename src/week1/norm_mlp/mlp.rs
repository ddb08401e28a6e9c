//! Day 4, second half. SiLU and the gated MLP.
//!
//! Source: Shazeer 2020, "GLU Variants Improve Transformer".
//!
//! Tasks here: week1-day4 task 2 (`silu`), week1-day4 task 3 (`SwiGlu::forward`). Everything else
//! is provided.

use tiny_llm_formats::Tensor;

use super::attention::linear;

/// Computes `x · σ(x) = x / (1 + e^(−x))`, element by element.
///
/// - Does not overflow for any finite `x`.
/// - Never subtracts nearly equal numbers, as `1 − σ(−x)` would. Such subtractions lose precision.
/// - For large negative `x`, returns 0 only where `e^x` is too small for an f32.
pub fn silu(x: &Tensor) -> Tensor {
    todo!("week1-day4 task 2: silu")
}

/// The SwiGLU MLP: `down(silu(gate(x)) ⊙ up(x))`. `gate` and `up` map `E` elements to `I`, and
/// `down` maps `I` back to `E`. The three projections have no bias.
#[derive(Debug, Clone)]
pub struct SwiGlu {
    /// Weight of the gate projection, `[I, E]`.
    pub gate_proj: Tensor,
    /// Weight of the up projection, `[I, E]`.
    pub up_proj: Tensor,
    /// Weight of the down projection, `[E, I]`.
    pub down_proj: Tensor,
}

impl SwiGlu {
    /// Computes the MLP: `x [..., E]` → `[..., E]`.
    pub fn forward(&self, x: &Tensor) -> Tensor {
        todo!("week1-day4 task 3: SwiGlu::forward")
    }
}
