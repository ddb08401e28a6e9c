//! id: kv-sequence-ignored
//! function: DenseCache::start
//! says: All sequences share one place in your cache: the index of the sequence is missing from where a head begins.
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
assert!(
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
(layer * kv_heads + head) * capacity * head_dim
