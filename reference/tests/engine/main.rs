//! Tests of the engine, in one binary, because every test binary links the whole engine.
#![cfg(feature = "engine")]

use tiny_llm_harness::allocations::CountingAllocator;

mod blocks;
mod buffers;
mod gap;
mod graphs;
mod jobs;
#[path = "../parts/llama.rs"]
mod llama;
mod load_gguf;
mod mixed;
mod mixture;
mod pages;
mod plans;
mod q8_cache;
mod sampling;
mod serving;
mod setup;
mod speculation;
mod stream;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
