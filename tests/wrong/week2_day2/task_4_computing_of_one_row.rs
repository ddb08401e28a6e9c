//! id: roofline-rows-forgotten
//! function: Machine::seconds
//! says: The arithmetic of one row is counted, whatever the number of rows: each row needs its own.
let _ = rows;
let reading = work.bytes as f64 / self.bandwidth;
let computing = 2.0 * work.multiply_adds as f64 / self.operations;
reading.max(computing)
