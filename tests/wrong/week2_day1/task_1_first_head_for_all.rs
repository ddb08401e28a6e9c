//! id: kv-first-head-for-all
//! function: DenseCache::write
//! says: Every head is given the numbers of the first: head h has numbers h·D to (h + 1)·D of the row.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = 0..head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
