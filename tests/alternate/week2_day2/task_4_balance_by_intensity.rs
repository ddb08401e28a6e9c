//! function: Machine::balanced_rows
//! how: operations for each byte of the machine over those of the work
(self.operations / self.bandwidth) * work.bytes as f64 / (2.0 * work.multiply_adds as f64)
