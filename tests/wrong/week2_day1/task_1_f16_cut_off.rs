//! id: f16-truncated
//! function: Store::put
//! says: You cut off the bits that f16 has no room for: the nearest f16 is wanted, and of two that are equally near the even one.
match self {
    Self::F32(store) => store[at..at + numbers.len()].copy_from_slice(numbers),
    Self::F16(store) => {
        for (cell, &x) in store[at..at + numbers.len()].iter_mut().zip(numbers) {
            let near = f16::from_f32(x);
            *cell = if near.to_f32().abs() > x.abs() { f16::from_bits(near.to_bits() - 1) } else { near };
        }
    }
}
