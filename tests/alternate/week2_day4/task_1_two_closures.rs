//! function: scales_and_minimums
//! how: one closure for both, by index
let six = |j: usize, first: usize, shift: u32| {
    if j < 4 { packed[first + j] & 0x3f } else { (packed[j + 4] >> shift & 0x0f) | ((packed[first + j - 4] & 0xc0) >> 2) }
};
(from_fn(|j| six(j, 0, 0)), from_fn(|j| six(j, 4, 4)))
