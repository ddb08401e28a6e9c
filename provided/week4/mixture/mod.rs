//! What week4/mixture gives.

pub mod cache;
pub mod layer;
pub mod load;
pub mod model;
pub mod pass;
pub mod session;
