//! Provided code of week 4. Its folders have the same names as those of `src/week4`.
//!
//! # Design
//!
//! - The graph computes with week 2's kernels, and its logits equal week 2's bit for bit. A node's
//!   sources are created before the node. `store` is a source of `attend`, so keys and values
//!   are stored before they are read. `readable` rejects a new node if it can't read one of its
//!   sources. Before a pass runs, `Step::check` rejects an input that doesn't fit.
//! - An arena is planned twice, by best fit and by size, and the smaller plan is used.
//! - `pin` places nodes that only one backend supports. `fewest_copies` places the rest by a
//!   minimum cut. `Schedule` adds copies as nodes. Keys and values stay on one backend.
//! - The outputs of wrong GPU kernels in `tests/fixtures/wrong` were computed by Mesa's software
//!   adapter.
//! - `mixture` has its own model, cache and loader. An expert's product does not depend on the
//!   other tokens that use the expert.
//! - `streamed`, except `packed`, uses only `core`: no heap, no files. All memory comes from one
//!   `Arena`, and all bytes of the file come through the trait `Storage`. `reference/bare` compiles
//!   the same files for a Cortex-M4.

// Day 1: sizes and strides.
#[path = "layout/strided.rs"]
pub mod strided;

// Day 2: a model as nodes.
#[path = "graph/engine.rs"]
pub mod engine;
#[path = "graph/kernels.rs"]
pub(crate) mod kernels;
#[path = "graph/language.rs"]
pub mod language;
#[path = "graph/nodes.rs"]
mod nodes;
#[path = "graph/op.rs"]
pub mod op;
#[path = "graph/readable.rs"]
pub mod readable;
#[path = "graph/step.rs"]
pub mod step;
#[path = "graph/svg.rs"]
pub mod svg;

// Day 3: one arena for all nodes.
#[path = "planner/by_size.rs"]
pub mod by_size;
#[path = "planner/checked.rs"]
pub mod checked;
#[path = "planner/planned.rs"]
pub mod planned;

// Day 4: which backend computes which node.
#[path = "backends/backend.rs"]
pub mod backend;
#[path = "backends/flow.rs"]
pub mod flow;
#[path = "backends/scheduler.rs"]
pub mod scheduler;
#[path = "backends/twin.rs"]
pub mod twin;

// Day 5: kernels for a GPU.
#[cfg(feature = "gpu")]
pub(crate) mod gpu;

// Day 6: experts, sinks and windows.
pub(crate) mod mixture;

// Day 7: weights that don't fit into memory.
#[path = "streamed/packed.rs"]
pub mod packed;
pub(crate) mod streamed;
