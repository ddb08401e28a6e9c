//! id: kv-capacity-off-by-one
//! function: DenseCache::write
//! says: The last position is refused: a capacity of 7 holds positions 0 to 6.
//! shows: write at position 6 of a capacity of 7: this must be accepted
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position + 1 < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
