//! id: kv-one-head-written
//! function: DenseCache::write
//! says: Only the first head is stored: a position has keys and values of H heads.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..1 {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
