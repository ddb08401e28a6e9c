//! The matrix unit of server processors (AMX): eight tiles of 16 rows of 64 bytes, and an
//! instruction that multiplies 16 rows of weights by 16 rows of activations, 64 columns deep.
//!
//! Operands are cheap to load. Each row of a tile holds a row of weights in the order of the file.
//! Activations are rearranged once for all matrices (`activations`). Results are expensive. A tile
//! of sums takes as long to store as to compute, and its numbers are then scaled one by one. So
//! each family of formats has its own plan to store as few sums as possible (`blocks`,
//! `super_blocks`).
//!
//! | file | what it holds |
//! |---|---|
//! | `unit` | the operations of a matrix unit |
//! | `tiles`, `model` | the processor's unit, and one in plain Rust |
//! | `permission` | whether the unit is there and may be used |
//! | `activations`, `panel` | operands in the layout of tiles |
//! | `many` | the loops over weights and activations |
//! | `blocks`, `super_blocks` | the two plans |
//! | `sixteen` | operations on the stored sums, with vectors or with arrays |
//! | `fill`, `kernels` | unpacking weights, and the table of kernels |
//!
//! The plans are generic over the unit, and over the operations on its sums. On every machine,
//! tests run the plans with the model of the unit, and with arrays instead of vector registers.

#![allow(unsafe_code, reason = "instructions that the compiler has no functions for")]

pub(crate) mod activations;
mod blocks;
#[cfg(target_arch = "x86_64")]
mod fill;
#[cfg(target_arch = "x86_64")]
mod kernels;
mod many;
#[cfg(test)]
mod model;
mod panel;
#[cfg(target_arch = "x86_64")]
mod permission;
#[cfg(test)]
mod plain;
mod sixteen;
mod super_blocks;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod unit;

#[cfg(target_arch = "x86_64")]
pub(crate) use self::kernels::kernel;
#[cfg(target_arch = "x86_64")]
pub use self::{
    permission::{Refusal, state},
    tiles::multiply_in_place,
};

/// Minimum number of rows of activations for which the matrix unit is faster than the vector
/// instruction `vpdpbusd`. A tile with fewer than 16 rows takes as long as a full one.
#[cfg(any(target_arch = "x86_64", test))]
pub(crate) const FROM: usize = 12;
