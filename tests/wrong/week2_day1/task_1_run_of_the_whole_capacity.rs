//! id: kv-run-whole-capacity
//! function: DenseCache::run
//! says: A run holds the whole capacity: the cells behind `positions.end` are empty, or old.
//! shows: numbers in all runs of five positions
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.end <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head) + positions.start * head_dim;
Run { start: positions.start, len: positions.len(), keys: self.keys.get(at, capacity * head_dim), values: self.values.get(at, capacity * head_dim) }
