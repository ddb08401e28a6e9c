//! id: f16-as-bf16
//! function: Store::put
//! says: You keep the upper half of the f32: that is bf16, and the cache reads it as f16.
match self {
    Self::F32(store) => store[at..at + numbers.len()].copy_from_slice(numbers),
    Self::F16(store) => {
        for (cell, &x) in store[at..at + numbers.len()].iter_mut().zip(numbers) {
            *cell = f16::from_bits((x.to_bits() >> 16) as u16);
        }
    }
}
