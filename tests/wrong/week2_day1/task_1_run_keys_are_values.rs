//! id: kv-run-keys-are-values
//! function: DenseCache::run
//! says: Keys come out of your cache where values belong: `write` stores both, and `run` hands out both.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.end <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head) + positions.start * head_dim;
Run { start: positions.start, len: positions.len(), keys: self.keys.get(at, positions.len() * head_dim), values: self.keys.get(at, positions.len() * head_dim) }
