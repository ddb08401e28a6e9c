//! id: kv-run-from-0
//! function: DenseCache::run
//! says: A run begins at position 0 in your cache, whatever was asked for: its first position is `positions.start`.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.end <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head);
Run { start: positions.start, len: positions.len(), keys: self.keys.get(at, positions.len() * head_dim), values: self.values.get(at, positions.len() * head_dim) }
