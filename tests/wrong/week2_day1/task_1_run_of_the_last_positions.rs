//! id: kv-run-takes-the-last
//! function: DenseCache::run
//! says: A run begins at `positions.start`, not so many positions before the capacity’s end.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.end <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head) + (capacity - positions.len()) * head_dim;
Run { start: positions.start, len: positions.len(), keys: self.keys.get(at, positions.len() * head_dim), values: self.values.get(at, positions.len() * head_dim) }
