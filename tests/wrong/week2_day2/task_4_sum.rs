//! id: roofline-sum
//! function: Machine::seconds
//! says: You add the time to read and the time to compute; they pass side by side, so the longer one counts.
let reading = work.bytes as f64 / self.bandwidth;
let computing = 2.0 * work.multiply_adds as f64 * rows as f64 / self.operations;
reading + computing
