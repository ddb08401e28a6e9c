//! The matrix unit of server processors (AMX): eight tiles of 16 rows of 64 bytes, and one
//! instruction that multiplies 16 rows of weights with 16 rows of activations, 64 columns deep.
//!
//! What goes in costs little: weights lie in tiles as they lie in a file, a row each, and
//! activations are laid out once for all matrices (`activations`). What comes out costs a lot. A
//! tile of sums takes as long to store as to make, and its numbers are then scaled one by one. So
//! each family of formats has its own plan for how few sums leave (`blocks`,
//! `super_blocks`).
//!
//! | file | what it holds |
//! |---|---|
//! | `unit` | what a matrix unit can do |
//! | `tiles`, `model` | the processor's, and one in plain Rust |
//! | `permission` | whether it is there, and may be used |
//! | `activations`, `panel` | what is multiplied, as tiles want it |
//! | `many` | which weights and activations meet when |
//! | `blocks`, `super_blocks` | the two plans |
//! | `sixteen` | what follows a tile, as vectors or as arrays |
//! | `fill`, `kernels` | weights out of their blocks, and the kernels that are served |
//!
//! The plans are generic over the unit and over what follows it, and tests run them with the model
//! and with arrays on every machine.

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

/// Rows of activations from which on the unit is faster than `vpdpbusd`. A tile with fewer than 16
/// takes as long as a full one.
#[cfg(any(target_arch = "x86_64", test))]
pub(crate) const FROM: usize = 12;
