//! Week 4, day 5: kernels for a GPU, in WGSL.
//!
//! In reading order: `elementwise` (one thread per element), `norm` (threads that work together),
//! `mat_vec` (quantized weights in the file's layout), `mat_mat` (tiles in shared memory),
//! `attention` (online softmax), `record` (several kernels, one submission); provided: `formats`
//! (weights without blocks, and kernels without arithmetic), `kernels` (all of them, compiled),
//! `backend` (the device as a backend of day 4), `measure` (its speed).
//!
//! The crate `gpu/` opens the device and runs kernels.

pub mod attention;
pub mod elementwise;
pub mod mat_mat;
pub mod mat_vec;
pub mod norm;
pub mod record;

pub use crate::provided::week4::gpu::{backend, formats, kernels, measure};
