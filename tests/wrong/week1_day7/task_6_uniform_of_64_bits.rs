//! id: uniform-64-bits
//! function: Rng::uniform
//! says: You divide all 64 bits, which rounds, and at the top rounds up to 1; keep the upper 53 bits, which an f64 holds exactly.
        self.next_u64() as f64 / u64::MAX as f64
