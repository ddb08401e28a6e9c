//! id: kv-head-ignored
//! function: DenseCache::start
//! says: All heads share one place in your cache: the index of the head is missing from where it begins.
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
assert!(
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
((layer * sequences + sequence) * kv_heads) * capacity * head_dim
