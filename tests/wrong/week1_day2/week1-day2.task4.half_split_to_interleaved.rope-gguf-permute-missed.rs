//! rope-gguf-permute-missed: Conversion permutes q and k for llama only.
//! wrong body for week1-day2 task 4: rope.rs, half_split_to_interleaved
let _ = n_heads; weight.clone()
