//! function: Machine::tokens_per_second
//! how: passes in a second, times rows
self.seconds(work, rows).recip() * rows as f64
