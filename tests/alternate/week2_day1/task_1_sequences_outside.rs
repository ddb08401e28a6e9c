//! function: DenseCache::start
//! how: another order of the axes: sequences, layers, heads
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
assert!(
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
((sequence * layers + layer) * kv_heads + head) * capacity * head_dim
