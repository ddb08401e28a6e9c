//! Provided. Week 3: serve many. Requests share the model, a step at a time.
//!
//! In reading order: `request` (what a client asks for, and a request's life), `stop` (texts that end
//! an answer), `slots` (who has which place in the cache), `engine` (the loop around them);
//! `scheduler` (whose rows go into a step), `timeline` (how long requests wait); and what is
//! provided: `room` (what the engine asks of a cache), `pass` (what it asks of a model), `sampler`
//! (how tokens are chosen), `step_times` (estimates a step's time), `ahead` (drafts in a batch,
//! by `propose`),
//! `extras` (what else a request may ask for).
//!
//! Day 7: `scalar` and `json` (which bytes may follow), `token_trie` (which tokens), `whole` (which of
//! them leave room for an end); provided: `grammar`, `json_grammar`, and `constraint`, which an answer
//! keeps to.

pub mod accept;
pub mod ahead;
pub mod constraint;
pub mod draft_backoff;
pub mod draft_length;
pub mod drafter;
pub mod engine;
pub mod extras;
pub mod grammar;
pub mod json;
pub mod json_grammar;
pub mod lookup;
pub mod paged;
pub mod parts;
pub mod pass;
pub mod pool;
pub mod prefix_hash;
pub mod prefix_index;
pub mod prompt_file;
pub mod propose;
pub mod reader;
pub mod request;
pub mod room;
pub mod sampler;
pub mod scalar;
pub mod scheduler;
pub mod shared;
pub mod slots;
pub mod speculate;
pub mod step_times;
pub mod stop;
pub mod timeline;
pub mod token_trie;
pub mod whole;
