//! id: kv-run-not-checked
//! function: DenseCache::run
//! says: A run longer than the capacity holds the next head’s first positions: it must be refused.
//! shows: a run of 8 positions of a capacity of 7: this must panic
let CacheShape { capacity, head_dim, .. } = self.shape;

let at = self.start(layer, sequence, head) + positions.start * head_dim;
Run { start: positions.start, len: positions.len(), keys: self.keys.get(at, positions.len() * head_dim), values: self.values.get(at, positions.len() * head_dim) }
