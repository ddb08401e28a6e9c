//! id: uniform-f32
//! function: Rng::uniform
//! says: 24 bits are too few.
f64::from((self.next_u64() >> 40) as f32 / (1u32 << 24) as f32)
