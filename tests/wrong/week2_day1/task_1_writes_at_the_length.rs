//! id: kv-writes-at-len
//! function: DenseCache::write
//! says: You write at the sequence’s length, which grows only when all layers are done: the rows of one pass then overwrite each other. The place is `position`.
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + self.lengths[sequence] * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
