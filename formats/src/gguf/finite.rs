//! Finds weights that are NaN or infinite.

use super::TensorType;

/// Number of elements that are checked without an early exit, so that the loop over them compiles
/// to vector instructions.
const AT_ONCE: usize = 1024;

impl TensorType {
    /// Returns the byte offsets of the half-precision numbers in a block. These are scales and
    /// minimums, except in `F16`, where the only such number is the weight.
    pub const fn halves(self) -> &'static [usize] {
        match self {
            Self::F32 | Self::BF16 | Self::MXFP4 => &[],
            Self::F16 | Self::Q4_0 | Self::Q5_0 | Self::Q8_0 => &[0],
            Self::Q4_1 | Self::Q5_1 | Self::Q4_K | Self::Q5_K => &[0, 2],
            Self::Q2_K => &[80, 82],
            Self::Q3_K => &[108],
            Self::Q6_K => &[208],
        }
    }

    /// Returns the index of the first block in which a float, a scale or a minimum is NaN or
    /// infinite.
    #[must_use]
    pub fn first_not_finite(self, bytes: &[u8]) -> Option<usize> {
        // A number is NaN or infinite if all bits of its exponent are set. `MXFP4`'s scale is only
        // an exponent.
        match self {
            Self::F32 => first::<4>(bytes, |x| u32::from_le_bytes(*x) & 0x7f80_0000 == 0x7f80_0000),
            Self::F16 => first::<2>(bytes, |x| u16::from_le_bytes(*x) & 0x7c00 == 0x7c00),
            Self::BF16 => first::<2>(bytes, |x| u16::from_le_bytes(*x) & 0x7f80 == 0x7f80),
            _ => bytes.chunks_exact(self.block_bytes()).position(|block| {
                let power = self == Self::MXFP4 && block[0] == u8::MAX;
                power || self.halves().iter().any(|&at| block[at + 1] & 0x7c == 0x7c)
            }),
        }
    }
}

fn first<const N: usize>(bytes: &[u8], bad: impl Fn(&[u8; N]) -> bool) -> Option<usize> {
    let all = bytes.as_chunks::<N>().0;
    let any = |part: &[[u8; N]]| part.iter().fold(false, |any, x| any | bad(x));
    let part = all.chunks(AT_ONCE).position(any)? * AT_ONCE;
    Some(part + all[part..].iter().position(bad)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_every_number_of_every_block() {
        for tensor_type in TensorType::READ {
            let (size, blocks) = (tensor_type.block_bytes(), 2 * AT_ONCE + 3);
            // Sets as many bits as finite values allow: codes are not floats, and a float is NaN or
            // infinite only if its exponent is all ones.
            let finite: Vec<u8> = (0..size)
                .map(|i| match tensor_type {
                    TensorType::F32 if i % 4 == 2 => 0x7f,
                    TensorType::BF16 if i % 2 == 0 => 0x7f,
                    TensorType::MXFP4 if i == 0 => 0xfe,
                    _ if tensor_type.halves().iter().any(|&at| i == at + 1) => 0xfb,
                    _ => 0xff,
                })
                .collect();
            let mut bytes = finite.repeat(blocks);
            assert_eq!(tensor_type.first_not_finite(&bytes), None, "{tensor_type}");
            let places: Vec<(usize, u8)> = match tensor_type {
                TensorType::F32 => vec![(2, 0x80)],
                TensorType::BF16 => vec![(0, 0x80)],
                TensorType::MXFP4 => vec![(0, 0xff)],
                _ => tensor_type.halves().iter().map(|at| (at + 1, 0x7c)).collect(),
            };
            for (at, bad) in places {
                for block in [0, 1, AT_ONCE, blocks - 1] {
                    let before = std::mem::replace(&mut bytes[block * size + at], bad);
                    let found = tensor_type.first_not_finite(&bytes);
                    assert_eq!(found, Some(block), "{tensor_type}, byte {at} of block {block}");
                    bytes[block * size + at] = before;
                }
            }
        }
    }
}
