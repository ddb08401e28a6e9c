//! id: kv-shared-by-layers
//! function: DenseCache::start
//! says: All layers share one place in your cache, so each overwrites the one before: every layer has keys and values of its own.
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
assert!(
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
(sequence * kv_heads + head) * capacity * head_dim
