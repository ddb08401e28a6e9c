//! Day 6: models with experts, sinks and windows: Qwen3-MoE and gpt-oss.
//!
//! In reading order: `route` (which experts), `grouped` (their products), `sinks` (attention that
//! may look nowhere), `windows` (attention that looks back only so far); provided: `cache` (pages
//! that go back), `layer` (weights), `model` (all of it in order), `load` (from files),
//! `session` (one text), `pass` (many).

pub mod grouped;
pub mod route;
pub mod sinks;
pub mod windows;

pub use crate::provided::week4::mixture::{cache, layer, load, model, pass, session};
