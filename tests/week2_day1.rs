//! Week 2, day 1: the KV cache.
