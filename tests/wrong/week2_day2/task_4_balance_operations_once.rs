//! id: roofline-operations
//! function: Machine::balanced_rows
//! says: A multiply-add counts as one operation in this balance; it is two.
let reading = work.bytes as f64 / self.bandwidth;
let computing_a_row = work.multiply_adds as f64 / self.operations;
reading / computing_a_row
