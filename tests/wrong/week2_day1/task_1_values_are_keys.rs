//! id: kv-values-are-keys
//! function: DenseCache::write
//! says: Keys come out of your cache where values belong: `write` stores both, and `run` hands out both.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &keys[row]);
}
