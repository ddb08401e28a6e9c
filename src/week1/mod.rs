//! Week 1: from a matrix product to text, in `ndarray` and f32, without a cache.
//!
//! Each day has a folder. The modules below are in the order of the days. If a day has provided
//! code, it is in the folder of the same name in `provided/week1`.

// Day 1: softmax, and attention in several heads.
#[path = "attention/attention.rs"]
pub mod attention;

// Day 2: positions as rotations.
#[path = "rope/rope.rs"]
pub mod rope;

// Day 3: grouped-query attention (several query heads share one key/value head), and the causal
// mask.
#[path = "gqa/gqa.rs"]
pub mod gqa;

// Day 4: the norm and the gated MLP.
#[path = "norm_mlp/mlp.rs"]
pub mod mlp;
#[path = "norm_mlp/norm.rs"]
pub mod norm;

// Day 5: the whole decoder, and its weights.
#[cfg(feature = "model")]
#[path = "model/model.rs"]
pub mod model;
#[cfg(feature = "model")]
#[path = "model/weights.rs"]
pub mod weights;
#[cfg(feature = "model")]
pub use crate::provided::week1::{activations, build};

// Day 6: from scores to text.
#[path = "generation/chat.rs"]
pub mod chat;
#[cfg(feature = "model")]
#[path = "generation/generate.rs"]
pub mod generate;
#[path = "generation/stream.rs"]
pub mod stream;

// Day 7: which token comes next.
#[cfg(feature = "model")]
#[path = "sampling/sampling.rs"]
pub mod sampling;
