//! Provided code of week 2. Its folders have the same names as those of `src/week2`.
//!
//! # Design
//!
//! - `Model::forward` takes rows. Each row is a token with its position and its sequence, and says
//!   whether its logits are needed. One call computes a prompt, a part of a prompt, a new token, or
//!   the rows of several requests.
//! - A cache returns runs of consecutive keys and values. A `Matrix` is a view of the mapped file.
//! - Only `kernels::multiply` calls a kernel. Only a `Team` divides work among threads. Norms,
//!   gates and attention use the machine's best vector instructions. If `TINY_LLM_KERNELS` names a
//!   rung (a set of kernels), they use the instructions of that rung.
//! - No day needs a later one: with plain weights, naive kernels and one thread, day 1 runs before
//!   any later task is solved.

// Day 1: each position is computed once.
#[path = "kv_cache/cache_type.rs"]
pub mod cache_type;
#[path = "kv_cache/layer.rs"]
pub mod layer;
#[path = "kv_cache/plan.rs"]
pub mod plan;
#[path = "kv_cache/q8_attention.rs"]
pub mod q8_attention;
#[path = "kv_cache/q8_store.rs"]
pub(crate) mod q8_store;
#[path = "kv_cache/rope.rs"]
pub mod rope;
#[path = "kv_cache/rows.rs"]
pub mod rows;
#[path = "kv_cache/shape.rs"]
mod shape;

// Day 2: reading files.
#[path = "gguf/bandwidth.rs"]
pub mod bandwidth;
pub(crate) mod gguf;
#[path = "gguf/load.rs"]
pub mod load;

// Day 3: weights in 4, 5 or 8 bits.
pub(crate) mod blocks;

// Day 4: weights in blocks of 256, and writing files.
#[path = "k_quants/quantize.rs"]
pub mod quantize;
#[path = "k_quants/search_scale.rs"]
pub mod search_scale;
#[path = "k_quants/target.rs"]
pub mod target;
#[path = "k_quants/write_file.rs"]
pub mod write_file;

// Day 5: products of quantized rows.
pub(crate) mod kernels;
