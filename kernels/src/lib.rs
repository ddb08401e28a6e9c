//! What both solutions run and no task teaches: the rungs of the ladder that a learner does not
//! write, the formats that no day is about, and what all kernels work on.
//!
//! In reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `matrix`, `input` | what is multiplied: weights as they lie in a file, and rows of activations |
//! | `parallel` | who multiplies: a team of threads, and the part of the output that one of them has |
//! | `rung` | the ladder: names, and which rungs this machine can run |
//! | `blocks` | formats that no day teaches: their bytes, and how they are read and written |
//! | `provided` | the one table: which kernel of this crate serves a rung, a format, a number of rows |
//! | `fused`, `integer`, `unpacked` | the same for the taught rungs' formats that no day teaches |
//! | `avx2`, `avx512`, `neon`, `simd128` | the rungs with vector instructions |
//! | `amx` | the rung with a matrix unit, for many rows of activations; it has its own list |
//! | `q8_rows` | rows of a cache in 8 bits a number |
//! | `loops`, `vector` | the small work between the matrices: norms, the gate, attention's tiles |
//! | `sampling` | choosing a token without sorting the vocabulary |
//! | `withheld` | a switch with which a task's tests withhold its answer |
//!
//! # One shape for each instruction set
//!
//! `avx2`, `avx512` and `neon` have the same files, so that whoever has read one finds their way in
//! the others:
//!
//! - `mod.rs`: what the instructions are, and the table from format to kernels;
//! - `lanes.rs`: loads, stores and sums on slices, which is where most of the `unsafe` is;
//! - one thin file for each format, `q4_0.rs` …: how codes, scales and minimums come out of a
//!   block, and its two kernels, `few` and `many`;
//! - `blocks.rs` and `super_blocks.rs`: few rows of activations (memory is the limit) times blocks
//!   of 32 weights and of 256;
//! - `many.rs`: many rows of activations (arithmetic is the limit): rows of weights are unpacked
//!   once, side by side, into a `panel.rs`, and `product.rs` multiplies it with all rows of
//!   activations;
//! - `float.rs`: weights that are floats already;
//! - `quantize.rs`: activations to integers.
//!
//! `simd128` has as much of this as the book's page needs: two formats, and one kernel for all
//! numbers of rows.
//!
//! A format's `few` and `many` are [`Kernel`]s. A kernel for a number of rows between the two, or
//! for another unit of the processor, is one more file beside `panel.rs` and one more entry in the
//! table.
//!
//! # What a solution brings
//!
//! Some kernels are tasks of the course. Where one belongs into a loop of this crate, the loop is
//! generic over it: [`parallel::Schedule`] for the way in which tiles are shared out, closures for
//! the product of a block with activations and for the search of a scale.
//!
//! # Units that few machines have
//!
//! The plans of the rung `amx` are generic over the matrix unit. Tests run them with a model of the
//! unit in plain Rust, and with the processor's own unit where there is one.

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

/// Rows of activations from which on arithmetic is the limit, no longer memory.
pub const MANY: usize = 4;

/// Computes a rectangle of the output: `tile[t, r] = Σ weight[r, c] · x[t, c]`.
///
/// # Safety
/// The machine has the instructions of the kernel's rung, see [`rung::Rung::is_available`].
pub type Kernel = unsafe fn(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>);
