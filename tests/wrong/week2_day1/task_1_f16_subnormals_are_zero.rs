//! id: f16-flushes
//! function: Store::put
//! says: Numbers below 2⁻¹⁴ become 0 in your cache: f16 has smaller ones, down to 2⁻²⁴.
match self {
    Self::F32(store) => store[at..at + numbers.len()].copy_from_slice(numbers),
    Self::F16(store) => {
        for (cell, &x) in store[at..at + numbers.len()].iter_mut().zip(numbers) {
            *cell = if x.abs() < 6.1e-5 { f16::from_f32(0.0 * x) } else { f16::from_f32(x) };
        }
    }
}
