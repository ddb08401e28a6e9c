//! id: kv-run-takes-the-last
//! function: DenseCache::run
//! says: A run of `len` positions begins at the first position, not `len` before the capacity’s end.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(len <= capacity, "{len} positions are more than the cache's {capacity}");
let at = self.start(layer, sequence, head) + (capacity - len) * head_dim;
Run { len, keys: self.keys.get(at, len * head_dim), values: self.values.get(at, len * head_dim) }
