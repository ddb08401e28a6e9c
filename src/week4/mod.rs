//! Provided. Week 4: under the hood. The same model as tensors with strides, and as a graph.
//!
//! In reading order: `layout` (where elements lie), `views` (other tensors in the same bytes),
//! `strided` (bytes and a layout), `contiguous` (when elements follow one another), `product`.
//!
//! Day 2: `graph` (nodes), `order` (in which they are computed), `execute` (how), `llama` (models
//! as graphs), `dot` (drawn); provided: `op` (what a node can be), `readable` (what it can read),
//! `language` (nodes of language models), `step` (what a pass has besides its graph), `kernels`
//! (week 2's, by operation), `engine` (passes of one size share a graph), `svg`.
//!
//! Day 3: `lifetimes` (when bytes are needed), `arena` (which are free), `planner` (where each
//! node's lie); provided: `by_size` (plans that look ahead), `planned` (a graph that runs in one
//! arena).
//!
//! Day 4: `cpu` (the processor as a backend), `placement` (who has to compute what), `cut` (who
//! computes the rest), `split` (runs of one backend, and copies between them), `weights` (in place
//! or uploaded); provided: `backend` (what one is), `flow` (the cheapest cut of a network),
//! `scheduler` (a graph that runs on several backends), `twin` (a second one, where there is no
//! device).
//!
//! Day 5: `gpu`, kernels for a graphics processor. Only there with the feature `gpu`.
//! Day 6: `mixture` (models with experts, whose attention has sinks and windows).
//!
//! Day 7 stands alone: `streamed` (a model whose weights never fit into memory), and `packed`,
//! which is provided (its file).

pub mod arena;
pub mod backend;
pub mod by_size;
pub mod contiguous;
pub mod cpu;
pub mod cut;
pub mod dot;
pub mod engine;
pub mod execute;
pub mod flow;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod graph;
mod kernels;
pub mod language;
pub mod layout;
pub mod lifetimes;
pub mod llama;
pub mod mixture;
pub mod op;
pub mod order;
pub mod packed;
pub mod placement;
pub mod planned;
pub mod planner;
pub mod product;
pub mod readable;
pub mod scheduler;
pub mod split;
pub mod step;
pub mod streamed;
pub mod strided;
pub mod svg;
pub mod twin;
pub mod views;
pub mod weights;
