//! Day 6: models with experts, sinks and windows: Qwen3-MoE and gpt-oss.
//!
//! In reading order: `route` (which experts), `grouped` (their products), `sinks` (attention to
//! nothing), `windows` (attention to the last positions only); provided: `cache` (pages that are
//! returned), `layer` (weights), `model` (the whole model), `load` (from files), `session` (one
//! text), `pass` (many).

pub mod grouped;
pub mod route;
pub mod sinks;
pub mod windows;

pub use crate::provided::week4::mixture::{cache, layer, load, model, pass, session};
