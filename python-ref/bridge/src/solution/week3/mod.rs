//! Week 3, file by file as in the solution.

pub(crate) use super::rust::week3 as rust;
use crate::prelude::*;

mod accept;
mod draft_length;
mod engine;
mod json;
mod lookup;
mod paged;
mod parts;
mod pool;
mod prefix_hash;
mod prefix_index;
mod prompt_file;
mod request;
mod scheduler;
mod slots;
mod speculate;
mod stop;
mod timeline;
mod whole;

exports! {
    module request, stop, slots, engine, scheduler, timeline, pool, paged, parts, prefix_hash,
        prefix_index, prompt_file, lookup, accept, draft_length, speculate, json, whole;
}
