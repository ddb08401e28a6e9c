//! Week 2: one fast engine on one small machine. It reads quantized weights in place, and has a KV
//! cache, kernels and threads.
//!
//! Each day has a folder. If `provided/week2` has code for a day, that code is in a folder of the
//! same name. The modules below are in the order of the days.

// Day 1: each position is computed once.
#[path = "kv_cache/attention.rs"]
pub mod attention;
#[path = "kv_cache/cache.rs"]
pub mod cache;
#[path = "kv_cache/generate.rs"]
pub mod generate;
#[path = "kv_cache/model.rs"]
pub mod model;
pub(crate) use crate::provided::week2::q8_store;
pub use crate::provided::week2::{cache_type, layer, plan, q8_attention, rope, rows};

// Day 2: reading files.
pub mod gguf;
#[path = "gguf/roofline.rs"]
pub mod roofline;
pub use crate::provided::week2::{bandwidth, load};

// Day 3: weights in 4, 5 or 8 bits.
pub mod blocks;

// Day 4: weights in blocks of 256, and writing files. `q4_k` and `q6_k` are in `blocks`.
#[path = "k_quants/recipe.rs"]
pub mod recipe;
#[path = "k_quants/search.rs"]
pub mod search;
#[path = "k_quants/writer.rs"]
pub mod writer;
pub use crate::provided::week2::{quantize, search_scale, target, write_file};

// Day 5: products of quantized rows.
#[path = "kernels/input.rs"]
pub mod input;
pub mod kernels;

// Day 6: vector instructions, and threads. The kernels are in `kernels/avx2` and
// `kernels/neon`.
#[path = "simd/parallel.rs"]
pub mod parallel;

// Day 7: attention in one pass.
#[path = "streaming/streaming.rs"]
pub mod streaming;

pub use tiny_llm_kernels::matrix;
