//! The integer rung. (A rung is one set of kernels.) Unlike in the fused rung, the activations are
//! small integers, like the codes of the weights. So the products are computed exactly, in integer
//! arithmetic, and floats are needed only once for each scale.
//!
//! The weights have the scale `d` and codes `q`, and the activations have the scale `s` and values
//! `p`. Both scales can be factored out: `Σ d·q · s·p = d · s · Σ q·p`. A block of 32 weights is
//! multiplied by 32 activations that share a scale. A block of 256 weights is multiplied by a
//! super-block of 256 activations that share a scale. So even the multiplications by the
//! sub-blocks' own scales are done in integers.
//!
//! For minimums, the fused rung adds up the activations `x` for every row of weights. Here, use
//! [`Int8SuperBlock::sums`] instead: sums of 16 values `p`, computed once for all rows.
//!
//! Tasks here: week2-day5 task 3 (`dot_q4_0`, `dot_q4_k`, `dot_q6_k`). Everything else is provided.

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::integer;
pub use tiny_llm_kernels::integer::Dot;

use crate::week2::{
    blocks::{f16_at, q4_k::scales_and_minimums},
    input::Int8SuperBlock,
};

/// Returns the integer kernels' dot-product function for rows of type `Q8_0`, `Q4_0`, `Q5_0`,
/// `Q4_K` or `Q6_K`. Returns `None` for any other type.
#[must_use]
pub fn dot(tensor_type: TensorType) -> Option<Dot> {
    Some(match tensor_type {
        TensorType::Q8_0 => dot_q8_0,
        TensorType::Q4_0 => dot_q4_0,
        TensorType::Q5_0 => dot_q5_0,
        TensorType::Q4_K => dot_q4_k,
        TensorType::Q6_K => dot_q6_k,
        _ => return None,
    })
}

/// Like [`super::fused::dot_q8_0`], with activations in int8. Each super-block of activations is
/// multiplied by eight blocks, or by fewer at the end of a row. (This function is provided, as an
/// example.)
#[must_use]
pub fn dot_q8_0(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    let mut sum = 0.0;
    for (blocks, x) in row.chunks(8 * 34).zip(x) {
        for ((block, p), scale) in
            blocks.chunks_exact(34).zip(x.values.chunks_exact(32)).zip(x.scales)
        {
            let qp: i32 =
                block[2..].iter().zip(p).map(|(&q, &p)| i32::from(q as i8) * i32::from(p)).sum();
            sum += scale * f16_at(block, 0) * qp as f32;
        }
    }
    sum
}

/// Like [`super::fused::dot_q4_0`], with activations in int8.
#[must_use]
pub fn dot_q4_0(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    todo!("week2-day5 task 3: dot_q4_0")
}

/// Like [`super::fused::dot_q5_0`], with activations in int8. (Provided.)
#[must_use]
pub fn dot_q5_0(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    integer::dot_q5_0(row, x)
}

/// Like [`super::fused::dot_q4_k`], with activations in int8. Each block is multiplied by one
/// super-block of activations. The sub-blocks' scales and minimums are multiplied as integers.
#[must_use]
pub fn dot_q4_k(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    todo!("week2-day5 task 3: dot_q4_k")
}

/// Like [`super::fused::dot_q6_k`], with activations in int8.
#[must_use]
pub fn dot_q6_k(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    todo!("week2-day5 task 3: dot_q6_k")
}
