//! id: uniform-over-max
//! function: Rng::uniform
//! says: 2^64 − 1 as divisor can give 1.
self.next_u64() as f64 / u64::MAX as f64
