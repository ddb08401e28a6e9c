//! function: pack_scales_and_minimums
//! how: the twelve bytes number by number
let mut packed = [0u8; 12];
for (first, numbers) in [(0, scales), (4, minimums)] {
    for (j, &number) in numbers.iter().enumerate() {
        if j < 4 {
            packed[first + j] += number;
        } else {
            packed[first + j - 4] += number / 16 * 64;
            packed[4 + j] += number % 16 * if first == 0 { 1 } else { 16 };
        }
    }
}
packed
