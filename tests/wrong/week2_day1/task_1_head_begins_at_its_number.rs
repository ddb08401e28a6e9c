//! id: head-slice-at-h
//! function: DenseCache::write
//! says: Head h of a row begins at number h · D, not at number h.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head..head + head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
