//! function: DenseCache::write
//! how: heads as chunks of the row
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(position < capacity, "no room for position {position}");
for (head, (k, v)) in keys.chunks(head_dim).zip(values.chunks(head_dim)).enumerate() {
    let at = self.start(layer, sequence, head) + position * head_dim;
    self.keys.put(at, k);
    self.values.put(at, v);
}
