//! id: roofline-minimum
//! function: Machine::seconds
//! says: You take the shorter of the two times: the pass is not done before both are.
let reading = work.bytes as f64 / self.bandwidth;
let computing = 2.0 * work.multiply_adds as f64 * rows as f64 / self.operations;
reading.min(computing)
