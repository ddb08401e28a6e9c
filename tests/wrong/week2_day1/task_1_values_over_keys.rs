//! id: kv-one-store
//! function: DenseCache::write
//! says: Values are written over the keys, and the store of values stays empty: `write` puts each into its own.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.keys.put(at, &values[row]);
}
