//! id: uniform-52-bits
//! function: Rng::uniform
//! says: 53 bits.
(self.next_u64() >> 12) as f64 / (1u64 << 52) as f64
