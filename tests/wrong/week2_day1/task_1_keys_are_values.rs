//! id: kv-keys-are-values
//! function: DenseCache::write
//! says: Values come out of your cache where keys belong: `write` stores both, and `run` hands out both.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &values[row.clone()]);
    self.values.put(at, &values[row]);
}
