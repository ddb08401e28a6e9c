//! function: Rng::uniform
//! how: times 2⁻⁵³
        (self.next_u64() >> 11) as f64 * 2f64.powi(-53)
