//! id: kv-run-end-length
//! function: DenseCache::run
//! says: The end of a range is no length: a run holds `positions.len()` positions.
//! shows: its start, its len, how many numbers
let CacheShape { capacity, head_dim, .. } = self.shape;
assert!(positions.start.max(positions.end) <= capacity, "{positions:?} is beyond the cache's {capacity}");
let at = self.start(layer, sequence, head);
let len = positions.end;
Run { start: positions.start, len, keys: self.keys.get(at, len * head_dim), values: self.values.get(at, len * head_dim) }
