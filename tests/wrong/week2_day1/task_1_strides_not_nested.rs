//! id: kv-strides-not-nested
//! function: DenseCache::start
//! says: You add layer, sequence and head before you multiply, so different places fall together: each index counts blocks of all that lies inside it.
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
assert!(
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
(layer + sequence + head) * capacity * head_dim
