//! id: uniform-below-half
//! function: Rng::uniform
//! says: All your numbers lie below ½: 52 bits are left, where 53 belong. Shift right by 11.
        (self.next_u64() >> 12) as f64 / (1u64 << 53) as f64
