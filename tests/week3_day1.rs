//! Week 3, day 1: a request's life, stop texts, slots of the cache, the engine.
//!
//! Expected tokens: `python-ref/oracle/week3_day1.py`.

use tiny_llm_harness::allocations::CountingAllocator;

#[path = "parts/serving.rs"]
mod serving;

#[path = "parts/drawn.rs"]
mod drawn;
#[path = "week3_day1/edges.rs"]
mod edges;
#[path = "week3_day1/order.rs"]
mod order;
#[path = "week3_day1/task_1.rs"]
mod task_1;
#[path = "week3_day1/task_2.rs"]
mod task_2;
#[path = "week3_day1/task_3.rs"]
mod task_3;
#[path = "week3_day1/task_4.rs"]
mod task_4;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day1.rs"]
mod fresh;
