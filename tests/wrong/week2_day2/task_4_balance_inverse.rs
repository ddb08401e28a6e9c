//! id: roofline-inverse
//! function: Machine::balanced_rows
//! says: This is the inverse: with more rows than that arithmetic is the limit, so it grows with the time to read.
let reading = work.bytes as f64 / self.bandwidth;
let computing_a_row = 2.0 * work.multiply_adds as f64 / self.operations;
computing_a_row / reading
