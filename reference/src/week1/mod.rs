//! Provided. Week 1: from a matrix product to text, in `ndarray` and f32, with nothing cached.
//!
//! In reading order: `attention`, `rope`, `gqa`, `norm`, `mlp`, `model`, `weights`, `generate`,
//! `stream`, `chat`, `sampling`. The last ones need model folders and are compiled from day 5 on,
//! so that the first days build fast.

pub mod attention;
pub mod gqa;
pub mod mlp;
pub mod norm;
pub mod rope;

#[cfg(feature = "model")]
pub mod activations;
#[cfg(feature = "model")]
pub mod generate;
#[cfg(feature = "model")]
pub mod model;
#[cfg(feature = "model")]
pub mod weights;

pub mod chat;
#[cfg(feature = "model")]
pub mod sampling;
pub mod stream;
