//! function: Store::put
//! how: one number after the other
for (i, &number) in numbers.iter().enumerate() {
    match self {
        Self::F32(store) => store[at + i] = number,
        Self::F16(store) => store[at + i] = f16::from_f32(number),
    }
}
