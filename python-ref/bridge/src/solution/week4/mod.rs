//! Week 4, file by file as in the solution.

pub(crate) use super::rust::week4 as rust;
use crate::prelude::*;

mod arena;
mod backends;
mod engine;
#[cfg(feature = "gpu")]
mod gpu;
mod graph;
mod layout;
mod mixture;
mod product;
mod streamed;

exports! {
    module layout, product, graph, engine, arena, backends, mixture, streamed;
    #[cfg(feature = "gpu")] module gpu;
}
