//! id: capacity-forgotten
//! function: DenseCache::start
//! says: Heads lie one position apart: each needs room for `capacity` positions.
let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
assert!(
    layer < layers && sequence < sequences && head < kv_heads,
    "layer {layer}, sequence {sequence}, head {head} of {:?}",
    self.shape
);
((layer * sequences + sequence) * kv_heads + head) * head_dim + 0 * capacity
