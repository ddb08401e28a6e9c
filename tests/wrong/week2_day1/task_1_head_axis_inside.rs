//! id: kv-concat-wrong-axis
//! function: DenseCache::write
//! says: You store position after position with all heads side by side, but a head’s positions lie one after the other: attention reads one head over many positions.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, 0) + (position * kv_heads + head) * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
