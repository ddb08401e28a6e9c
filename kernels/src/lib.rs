//! Kernels that are provided, not taught. A rung is one set of kernels, such as those with AVX2
//! instructions, and the ladder is all rungs, from slow to fast. This crate has the rungs that a
//! learner does not write, the formats that the course does not teach, and the data types of all
//! kernels.
//!
//! In reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `matrix`, `input` | operands: weights in the bytes of a file, and rows of activations |
//! | `parallel` | the team of threads, and the part of the output that each thread writes |
//! | `rung`, `choice` | the ladder: names, available rungs, and the rung of each format |
//! | `blocks` | formats that the course does not teach: their layout, reading and writing |
//! | `repack` | a second layout of weights, with rows side by side |
//! | `provided` | the table from rung, format and number of rows to a kernel of this crate |
//! | `fused`, `integer` | scalar dot products that are not tasks of the course |
//! | `unpacked` | unpacked weights, in one form for all integer formats |
//! | `prefetch`, `streams` | reading weights from memory at the full bandwidth |
//! | `avx2`, `avx512`, `neon`, `simd128` | the rungs with vector instructions |
//! | `amx` | the rung with a matrix unit, for many rows of activations (files: see `amx/mod.rs`) |
//! | `q8_rows` | rows of a KV cache with 8 bits per number |
//! | `loops`, `vector` | operations between matrix products: norms, the gate, attention |
//! | `sampling` | choosing a token without sorting the vocabulary |
//! | `withheld` | a switch with which a task's tests disable kernels that would solve it |
//!
//! # The same files for each instruction set
//!
//! `avx2`, `avx512` and `neon` have the same structure, so if you know one of these folders, you
//! can find your way in the others:
//!
//! - `mod.rs`: what the instructions do, and the table from format to kernels.
//! - `lanes.rs`: loads, stores and sums on slices, with most of the `unsafe` code.
//! - One short file per format, such as `q4_0.rs`: how to unpack codes, scales and minimums from a
//!   block. In `avx2` and `avx512`, it also has the format's two kernels, `few` and `many`.
//! - `blocks.rs` and `super_blocks.rs`: products with a few rows of activations, for formats with
//!   blocks of 32 and of 256 weights. Memory bandwidth is the limit.
//! - `many.rs`: products with many rows of activations. Arithmetic is the limit. Rows of weights
//!   are unpacked once, side by side, into a panel (`panel.rs`), and `product.rs` multiplies the
//!   panel by all rows of activations. In `neon`, the loop of `many.rs` is in `panel.rs`. In
//!   `avx2`, blocks of 32 weights need no panel: `columns.rs` keeps them in registers, and
//!   `eights.rs` has the kernels for repacked weights.
//! - `float.rs`: weights that are already floats.
//! - `quantize.rs`: quantizes activations.
//!
//! `simd128` has only what the book's page needs: two formats, and one kernel for any number of
//! rows.
//!
//! `few` and `many` of a format are [`Kernel`]s. To add a kernel for an intermediate number of rows
//! or for another unit of the processor, add a file next to `panel.rs` and an entry in the table.
//!
//! # What a solution provides
//!
//! Some kernels are tasks of the course. A loop of this crate that needs such a kernel is generic
//! over it. The solution implements [`parallel::Schedule`], which distributes tiles among threads,
//! and passes closures that multiply a block by activations or search for a scale.
//!
//! # Rare matrix units
//!
//! The rung `amx` has two plans, each for a family of formats. Both are generic over the matrix
//! unit. Tests run the plans with a model of the unit in plain Rust, and with the processor's own
//! unit if it has one.

#[cfg(any(target_arch = "x86_64", test))]
pub mod amx;
#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod blocks;
pub mod choice;
pub mod format;
pub mod fused;
pub mod input;
mod int8;
pub mod integer;
mod loops;
pub mod matrix;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod parallel;
pub mod peak;
#[cfg(target_arch = "x86_64")]
mod prefetch;
pub mod provided;
pub mod q8_rows;
pub mod repack;
pub mod rung;
pub mod sampling;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod streams;
pub mod unpacked;
pub mod vector;
pub mod withheld;

use self::{input::Input, matrix::Matrix, parallel::Tile};

/// Minimum number of rows of activations for which vector kernels unpack weights once for all rows,
/// because arithmetic limits them more than memory bandwidth does. (AVX2 has its own minimum.)
pub const MANY: usize = 4;

/// Computes a rectangle of the output: `tile[t, r] = Σ weight[r, c] · x[t, c]`.
///
/// # Safety
/// The machine must have the instructions of the kernel's rung, see [`rung::Rung::is_available`].
pub type Kernel = unsafe fn(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>);
