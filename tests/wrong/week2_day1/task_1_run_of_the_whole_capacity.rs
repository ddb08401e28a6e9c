//! id: kv-run-whole-capacity
//! function: DenseCache::run
//! says: A run holds the whole capacity: the cells behind the first `len` positions are empty, or old.
//! shows: numbers in all runs of five positions
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(len <= capacity, "{len} positions are more than the cache's {capacity}");
let at = self.start(layer, sequence, head);
Run { len, keys: self.keys.get(at, capacity * head_dim), values: self.values.get(at, capacity * head_dim) }
