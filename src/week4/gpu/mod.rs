//! Week 4, day 5: kernels for a GPU, in WGSL.
//!
//! The files in reading order:
//!
//! - `elementwise`: kernels with one thread per element
//! - `norm`: threads of a workgroup that work together
//! - `mat_vec`: products with quantized weights in the file's layout
//! - `mat_mat`: products in tiles, with shared memory
//! - `attention`: online softmax
//! - `record`: several kernels in one submission
//!
//! Provided:
//!
//! - `formats`: f32, f16 and bf16 weights, and the other kernels of a language model
//! - `kernels`: compiles all kernels
//! - `backend`: the device as a backend of day 4
//! - `measure`: measures the device's speed
//!
//! The crate `gpu/` opens the device and runs kernels.

pub mod attention;
pub mod elementwise;
pub mod mat_mat;
pub mod mat_vec;
pub mod norm;
pub mod record;

pub use crate::provided::week4::gpu::{backend, formats, kernels, measure};
