//! id: roofline-inverse
//! function: Machine::tokens_per_second
//! says: These are seconds for a token, the inverse of tokens in a second.
self.seconds(work, rows) / rows as f64
