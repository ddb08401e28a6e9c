//! Provided. Week 4: under the hood. The same model as tensors with strides, and as a graph.
//!
//! Day 7 stands alone: `streamed` (a model whose weights never fit into memory), and `packed`, which is
//! provided (its file).

pub mod packed;
pub mod streamed;
