//! Week 4: under the hood. Runs week 2's model as a graph of strided tensors.
//!
//! Each day has its own folder. The folder with the same name in `provided/week4` has the day's
//! provided code.

// Day 1: sizes and strides.
#[path = "layout/contiguous.rs"]
pub mod contiguous;
#[path = "layout/layout.rs"]
pub mod layout;
#[path = "layout/product.rs"]
pub mod product;
#[path = "layout/views.rs"]
pub mod views;
pub use crate::provided::week4::strided;

// Day 2: a model as nodes.
#[path = "graph/dot.rs"]
pub mod dot;
#[path = "graph/execute.rs"]
pub mod execute;
#[path = "graph/graph.rs"]
pub mod graph;
#[path = "graph/llama.rs"]
pub mod llama;
#[path = "graph/order.rs"]
pub mod order;
pub(crate) use crate::provided::week4::kernels;
pub use crate::provided::week4::{engine, language, op, readable, step, svg};

// Day 3: one arena for all nodes.
#[path = "planner/arena.rs"]
pub mod arena;
#[path = "planner/lifetimes.rs"]
pub mod lifetimes;
#[path = "planner/planner.rs"]
pub mod planner;
pub use crate::provided::week4::{by_size, checked, planned};

// Day 4: which backend computes which node.
#[path = "backends/cpu.rs"]
pub mod cpu;
#[path = "backends/cut.rs"]
pub mod cut;
#[path = "backends/placement.rs"]
pub mod placement;
#[path = "backends/split.rs"]
pub mod split;
#[path = "backends/weights.rs"]
pub mod weights;
pub use crate::provided::week4::{backend, flow, scheduler, twin};

// Day 5: kernels for a GPU.
#[cfg(feature = "gpu")]
pub mod gpu;

// Day 6: experts, sinks and windows.
pub mod mixture;

// Day 7: a model that is never in memory as a whole.
pub mod streamed;
pub use crate::provided::week4::packed;
