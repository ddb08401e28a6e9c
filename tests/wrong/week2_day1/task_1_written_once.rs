//! id: kv-never-overwritten
//! function: DenseCache::write
//! says: A position that holds something keeps it: after a truncation the place is written again, with other numbers.
//! shows: position 2 was written a second time
let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "position {position} is beyond the cache's {capacity}");
for head in 0..kv_heads {
    let there = {
        let at = self.start(layer, sequence, head) + position * head_dim;
        match self.keys.get(at, head_dim) {
            Cells::F32(x) => x.iter().any(|x| *x != 0.0),
            Cells::F16(x) => x.iter().any(|x| x.to_f32() != 0.0),
        }
    };
    if there { continue; }
    let at = self.start(layer, sequence, head) + position * head_dim;
    let row = head * head_dim..(head + 1) * head_dim;
    self.keys.put(at, &keys[row.clone()]);
    self.values.put(at, &values[row]);
}
