//! id: kv-run-start-0
//! function: DenseCache::run
//! says: A run says that it begins at position 0: `start` is the position of its first row.
//! shows: its start, its len, how many numbers
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.end <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head) + positions.start * head_dim;
Run { start: 0, len: positions.len(), keys: self.keys.get(at, positions.len() * head_dim), values: self.values.get(at, positions.len() * head_dim) }
