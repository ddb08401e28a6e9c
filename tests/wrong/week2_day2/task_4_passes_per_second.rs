//! id: roofline-passes
//! function: Machine::tokens_per_second
//! says: These are passes in a second: each has `rows` tokens.
1.0 / self.seconds(work, rows)
