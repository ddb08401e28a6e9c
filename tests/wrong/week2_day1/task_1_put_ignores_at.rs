//! id: kv-put-at-zero
//! function: Store::put
//! says: Everything is written at the beginning of the store: `at` is where the numbers go.
match self {
    Self::F32(store) => store[..numbers.len()].copy_from_slice(numbers),
    Self::F16(store) => {
        for (cell, &x) in store[..numbers.len()].iter_mut().zip(numbers) {
            *cell = f16::from_f32(x);
        }
    }
}
