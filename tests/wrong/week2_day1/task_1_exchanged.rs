//! id: kv-exchanged
//! function: DenseCache::write
//! says: Keys and values are exchanged on their way into your cache or out of it.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &values[row.clone()]);
    self.values.put(at, &keys[row]);
}
