//! function: Machine::seconds
//! how: by the rate of each side
let rows = rows as f64;
let rate_of_memory = self.bandwidth / work.bytes as f64;
let rate_of_arithmetic = self.operations / (work.multiply_adds as f64 + work.multiply_adds as f64) / rows;
1.0 / rate_of_memory.min(rate_of_arithmetic)
