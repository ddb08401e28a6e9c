//! Week 3: serving many requests, which share every step of the model.
//!
//! Each day has a folder. The modules below follow the order of the days. A day's provided code, if
//! there is any, is in the folder of the same name in `provided/week3`.

// Day 1: many requests share a forward pass.
#[path = "batching/engine.rs"]
pub mod engine;
#[path = "batching/request.rs"]
pub mod request;
#[path = "batching/slots.rs"]
pub mod slots;
#[path = "batching/stop.rs"]
pub mod stop;
pub use crate::provided::week3::{extras, options, pass, room, sampler};

// Day 2: which rows go into a step.
#[path = "scheduling/scheduler.rs"]
pub mod scheduler;
#[path = "scheduling/timeline.rs"]
pub mod timeline;
pub use crate::provided::week3::step_times;

// Day 3: keys and values in pages.
#[path = "paging/paged.rs"]
pub mod paged;
#[path = "paging/pool.rs"]
pub mod pool;

// Day 4: attention over pages.
#[path = "paged_attention/parts.rs"]
pub mod parts;
#[path = "paged_attention/reader.rs"]
pub mod reader;
pub use crate::provided::week3::in_parts;

// Day 5: keys and values that requests share.
#[path = "prefixes/prefix_hash.rs"]
pub mod prefix_hash;
#[path = "prefixes/prefix_index.rs"]
pub mod prefix_index;
#[path = "prefixes/prompt_file.rs"]
pub mod prompt_file;
#[path = "prefixes/shared.rs"]
pub mod shared;
pub use crate::provided::week3::from_words;

// Day 6: several tokens in a pass.
#[path = "speculation/accept.rs"]
pub mod accept;
#[path = "speculation/draft_length.rs"]
pub mod draft_length;
#[path = "speculation/drafter.rs"]
pub mod drafter;
#[path = "speculation/lookup.rs"]
pub mod lookup;
#[path = "speculation/speculate.rs"]
pub mod speculate;
pub use crate::provided::week3::{ahead, draft_backoff, lookup_drafter, propose};

// Day 7: answers in JSON.
#[path = "forms/json.rs"]
pub mod json;
#[path = "forms/scalar.rs"]
pub mod scalar;
#[path = "forms/token_trie.rs"]
pub mod token_trie;
#[path = "forms/whole.rs"]
pub mod whole;
pub use crate::provided::week3::{constraint, grammar, json_grammar};
