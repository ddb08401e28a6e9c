//! id: kv-place-not-checked
//! function: DenseCache::start
//! says: A sequence beyond the last is the first of the next layer: the index is within the memory, so nothing but your own check notices.
//! shows: write to sequence 3 of 3: this must panic
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
debug_assert!(true || 
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
((layer * sequences + sequence) * kv_heads + head) * capacity * head_dim
