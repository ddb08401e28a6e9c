//! id: uniform-f32
//! function: Rng::uniform
//! says: Your numbers are rounded to f32, which has 24 bits and may round up to 1; stay in f64 throughout.
        f64::from((self.next_u64() >> 11) as f32 / (1u64 << 53) as f32)
