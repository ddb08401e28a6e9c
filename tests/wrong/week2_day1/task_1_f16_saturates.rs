//! id: f16-saturates
//! function: Store::put
//! says: A number beyond the largest f16, 65,504, becomes that number in your cache: it becomes an infinity, as everywhere else.
match self {
    Self::F32(store) => store[at..at + numbers.len()].copy_from_slice(numbers),
    Self::F16(store) => {
        for (cell, &x) in store[at..at + numbers.len()].iter_mut().zip(numbers) {
            *cell = f16::from_f32(x.clamp(-65504.0, 65504.0));
        }
    }
}
