//! What week 4 gives, in the folders of `src/week4`.

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

// Day 5: kernels for a graphics processor.
#[cfg(feature = "gpu")]
pub(crate) mod gpu;

// Day 6: experts, sinks and windows.
pub(crate) mod mixture;

// Day 7: weights that never fit into memory.
#[path = "streamed/packed.rs"]
pub mod packed;
pub(crate) mod streamed;
