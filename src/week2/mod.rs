//! Provided. Week 2: one fast engine on one small machine. Quantized weights read in place, a
//! cache, kernels, threads.
//!
//! In reading order: `cache`, `attention`, `layer`, `model` and `plan` (what is computed), `gguf`
//! and `matrix` (where weights lie), `blocks` (how they are stored), `kernels` (how they are
//! multiplied), `parallel` (by whom), `rope`, `streaming`, `generate`, `load`.

pub mod attention;
pub mod bandwidth;
pub mod blocks;
pub mod cache;
pub mod generate;
pub mod gguf;
pub mod input;
pub mod kernels;
pub mod layer;
pub mod load;
pub mod model;
pub mod parallel;
pub mod plan;
pub mod quantize;
pub mod recipe;
pub mod roofline;
pub mod rope;
pub mod rows;
pub mod streaming;

pub use tiny_llm_kernels::matrix;
