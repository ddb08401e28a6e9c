//! What week4/streamed gives.

pub mod engine;
pub mod error;
pub mod ledger;
pub mod math;
pub mod shape;
pub mod storage;
