//! id: rope-gguf-permute-missed
//! function: half_split_to_interleaved
//! says: Conversion permutes q and k for llama only.
let _ = n_heads; weight.clone()
