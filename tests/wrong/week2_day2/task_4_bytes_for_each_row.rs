//! id: roofline-bytes-per-row
//! function: Machine::seconds
//! says: The weights are read again for each row with you: that they are read once for all rows is why a prompt is fast.
let reading = work.bytes as f64 * rows as f64 / self.bandwidth;
let computing = 2.0 * work.multiply_adds as f64 * rows as f64 / self.operations;
reading.max(computing)
