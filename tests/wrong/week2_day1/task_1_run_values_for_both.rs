//! id: kv-keys-are-values
//! function: DenseCache::run
//! says: Values come out of your cache where keys belong: `write` stores both, and `run` hands out both.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.end <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head) + positions.start * head_dim;
Run { start: positions.start, len: positions.len(), keys: self.values.get(at, positions.len() * head_dim), values: self.values.get(at, positions.len() * head_dim) }
