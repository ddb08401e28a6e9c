//! id: roofline-operations
//! function: Machine::seconds
//! says: A multiply-add counts as one operation with you; data sheets count two.
let reading = work.bytes as f64 / self.bandwidth;
let computing = work.multiply_adds as f64 * rows as f64 / self.operations;
reading.max(computing)
