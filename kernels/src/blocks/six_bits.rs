//! Eight scales and eight minimums of 6 bits in 12 bytes, as in `Q4_K` and `Q5_K`.
//!
//! Bytes 0 to 3 hold the first four scales, bytes 4 to 7 the first four minimums, both in their
//! lower six bits. The upper two bits of these bytes are the upper bits of the other four scales
//! and minimums. Bytes 8 to 11 hold the lower four bits of these other four: scales in the low
//! nibbles, minimums in the high nibbles.

const SIX: u32 = 0x3f3f_3f3f;
const FOUR: u32 = 0x0f0f_0f0f;
const TWO: u32 = 0x0303_0303;

/// Unpacks eight scales and eight minimums, one byte each, the first in the lowest byte.
#[inline]
pub(crate) fn unpack(packed: &[u8; 12]) -> (u64, u64) {
    let word =
        |i: usize| u32::from_le_bytes([packed[i], packed[i + 1], packed[i + 2], packed[i + 3]]);
    let (a, m, low) = (word(0), word(4), word(8));
    let scales = u64::from(a & SIX) | u64::from(low & FOUR | (a >> 6 & TWO) << 4) << 32;
    let minimums = u64::from(m & SIX) | u64::from(low >> 4 & FOUR | (m >> 6 & TWO) << 4) << 32;
    (scales, minimums)
}

/// Packs numbers below 64: the inverse of [`unpack`].
pub(crate) fn pack(scales: [u8; 8], minimums: [u8; 8]) -> [u8; 12] {
    let words = |numbers: [u8; 8]| {
        let both = u64::from_le_bytes(numbers);
        (both as u32, (both >> 32) as u32)
    };
    let ((a, a_after), (m, m_after)) = (words(scales), words(minimums));
    let low = a_after & FOUR | (m_after & FOUR) << 4;
    let parts = [a | (a_after >> 4 & TWO) << 6, m | (m_after >> 4 & TWO) << 6, low];
    let mut packed = [0; 12];
    for (bytes, word) in packed.chunks_exact_mut(4).zip(parts) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpack_inverts_pack() {
        let numbers =
            |from: usize, step: usize| std::array::from_fn(|i| (from + step * i) as u8 & 63);
        for (from, step) in [(0, 1), (63, 5), (17, 9), (40, 31)] {
            let (scales, minimums): ([u8; 8], [u8; 8]) = (numbers(from, step), numbers(step, from));
            let (a, m) = unpack(&pack(scales, minimums));
            assert_eq!((a.to_le_bytes(), m.to_le_bytes()), (scales, minimums));
        }
    }
}
