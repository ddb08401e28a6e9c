//! Support for tests: fixtures, assertions that explain failures, diagnoses of known mistakes, and
//! a counter of allocations.
//!
//! Only tests and examples import the harness. Solutions don't.

pub mod allocations;
pub mod check;
mod diagnosis;
mod difference;
pub mod fixtures;
pub mod fresh;
pub mod messages;
pub mod panics;
mod stored;
mod tolerance;
