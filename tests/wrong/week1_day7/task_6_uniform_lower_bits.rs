//! id: uniform-lower-bits
//! function: Rng::uniform
//! says: The upper 53 bits.
(self.next_u64() & ((1 << 53) - 1)) as f64 / (1u64 << 53) as f64
