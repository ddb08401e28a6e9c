// sampling.rs uniform
// 24 bits are too few.
f64::from((self.next_u64() >> 40) as f32 / (1u32 << 24) as f32)
