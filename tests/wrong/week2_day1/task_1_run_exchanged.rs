//! id: kv-run-exchanged
//! function: DenseCache::run
//! says: Keys and values are exchanged on their way into your cache or out of it.
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(len <= capacity, "{len} positions are more than the cache's {capacity}");
let at = self.start(layer, sequence, head);
Run { len, keys: self.values.get(at, len * head_dim), values: self.keys.get(at, len * head_dim) }
