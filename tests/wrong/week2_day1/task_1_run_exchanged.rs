//! id: kv-run-exchanged
//! function: DenseCache::run
//! says: Keys and values are exchanged on their way into your cache or out of it.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.end <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head) + positions.start * head_dim;
Run { start: positions.start, len: positions.len(), keys: self.values.get(at, positions.len() * head_dim), values: self.keys.get(at, positions.len() * head_dim) }
