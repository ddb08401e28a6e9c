//! id: kv-run-not-checked
//! function: DenseCache::run
//! says: A run longer than the capacity holds the next head’s first positions: it must be refused.
//! shows: a run of 8 positions of a capacity of 7: this must panic
let CacheShape { capacity, head_dim, .. } = self.shape;

let at = self.start(layer, sequence, head);
Run { len, keys: self.keys.get(at, len * head_dim), values: self.values.get(at, len * head_dim) }
