//! Day 6: models with experts, sinks and windows: Qwen3-MoE and gpt-oss.
//!
//! The files in reading order:
//!
//! - `route`: chooses the experts of a token
//! - `grouped`: multiplies by the experts' weights
//! - `sinks`: attention with a sink
//! - `windows`: attention to the last positions only
//!
//! Provided:
//!
//! - `cache`: a cache that returns pages to the pool
//! - `layer`: the weights of a layer
//! - `model`: the whole model
//! - `load`: loads a model from files
//! - `session`: runs one text
//! - `pass`: runs many texts

pub mod grouped;
pub mod route;
pub mod sinks;
pub mod windows;

pub use crate::provided::week4::mixture::{cache, layer, load, model, pass, session};
