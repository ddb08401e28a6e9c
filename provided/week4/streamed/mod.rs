//! What week4/streamed gives.

pub mod engine;
pub mod error;
pub mod math;
pub mod shape;
