//! id: kv-keys-are-values
//! function: DenseCache::run
//! says: Values come out of your cache where keys belong: `write` stores both, and `run` hands out both.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(len <= capacity, "{len} positions are more than the cache's {capacity}");
let at = self.start(layer, sequence, head);
Run { len, keys: self.values.get(at, len * head_dim), values: self.values.get(at, len * head_dim) }
