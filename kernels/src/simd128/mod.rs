//! 128-bit integer arithmetic (WebAssembly). One instruction computes 8 products and adds them in
//! pairs.
//!
//! A format without a kernel here uses the kernel of the next lower rung (set of kernels).

#![allow(unsafe_code, reason = "loads and stores through pointers")]

mod blocks;
mod lanes;
mod q4_0;
mod q8_0;
mod quantize;

use tiny_llm_formats::gguf::TensorType;

pub(crate) use self::quantize::quantize_activations;
use self::{blocks::product, q4_0::Q4_0, q8_0::Q8_0};
use crate::Kernel;

/// Returns the kernel for a type and any number of rows of activations, or `None` if there is none.
pub(crate) fn kernel(tensor_type: TensorType) -> Option<Kernel> {
    match tensor_type {
        TensorType::Q4_0 => Some(product::<18, Q4_0>),
        TensorType::Q8_0 => Some(product::<34, Q8_0>),
        _ => None,
    }
}
