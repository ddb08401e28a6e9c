//! Week 4, day 5: kernels for a graphics processor, in WGSL.
//!
//! In reading order: `elementwise` (one thread a number), `norm` (threads that work together),
//! `mat_vec` (quantized weights in the file's layout), `mat_mat` (tiles in shared memory),
//! `attention` (online softmax), `record` (several kernels, one submission); provided: `formats`
//! (weights that are no blocks, and kernels without arithmetic), `kernels` (all of them, compiled),
//! `backend` (the device as day 4 knows one), `measure` (how fast it is).
//!
//! What opens the device and runs a kernel is the crate `gpu/`.

pub mod attention;
pub mod elementwise;
pub mod mat_mat;
pub mod mat_vec;
pub mod norm;
pub mod record;

pub use crate::provided::week4::gpu::{backend, formats, kernels, measure};
