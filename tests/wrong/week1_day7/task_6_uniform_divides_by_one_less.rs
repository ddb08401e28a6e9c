//! id: uniform-divides-by-one-less
//! function: Rng::uniform
//! says: Divide by 2^53.
(self.next_u64() >> 11) as f64 / ((1u64 << 53) - 1) as f64
