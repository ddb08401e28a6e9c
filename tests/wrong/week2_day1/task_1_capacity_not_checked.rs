//! id: kv-capacity-not-checked
//! function: DenseCache::write
//! says: A position beyond the capacity is a position of the next head: the write must be refused.
//! shows: write at position 7 of a capacity of 7: this must panic
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;

for head in 0..kv_heads {
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
