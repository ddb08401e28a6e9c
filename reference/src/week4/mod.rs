//! Provided. Week 4: under the hood. The same model as tensors with strides, and as a graph.
//!
//! In reading order: `layout` (where elements lie), `views` (other tensors in the same bytes),
//! `strided` (bytes and a layout), `contiguous` (when elements follow one another), `product`.
//!
//! Day 2: `graph` (nodes), `order` (in which they are computed), `execute` (how), `llama` (models
//! as graphs), `dot` (drawn); provided: `op` (what a node can be), `language` (nodes of
//! language models), `step` (what a pass has beside its graph), `kernels` (week 2's, by operation),
//! `engine` (passes of one size share a graph), `svg`.
//!
//! Day 3: `lifetimes` (when bytes are needed), `arena` (which are free), `planner` (where each
//! node's lie); provided: `planned` (a graph that runs in one arena).
//!
//! Day 7 stands alone: `streamed` (a model whose weights never fit into memory), and `packed`, which is
//! provided (its file).

pub mod arena;
pub mod contiguous;
pub mod dot;
pub mod engine;
pub mod execute;
pub mod graph;
mod kernels;
pub mod language;
pub mod layout;
pub mod lifetimes;
pub mod llama;
pub mod op;
pub mod order;
pub mod packed;
pub mod planned;
pub mod planner;
pub mod product;
pub mod step;
pub mod streamed;
pub mod strided;
pub mod svg;
pub mod views;
