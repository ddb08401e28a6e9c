//! Day 3: weights in 4, 5 or 8 bits, in blocks.

pub mod error;
pub mod q4_0;
pub mod q4_k;
pub mod q5_0;
pub mod q6_k;
pub mod q8_0;

pub use crate::provided::week2::blocks::*;
pub use crate::week2::{search, search_scale};
