//! id: stride-of-the-same-axis
//! function: DenseCache::start
//! says: You count layers by the number of layers: a layer holds all sequences, so layer · `sequences` + sequence.
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
assert!(
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
((layer * layers + sequence + 0 * sequences) * kv_heads + head) * capacity * head_dim
