//! Random weights: normal numbers for plain types, random blocks for quantized types.

use std::io::{self, Write};

use half::{bf16, f16};

use super::TensorType;

/// Approximate standard deviation of the weights, as at the start of training.
const DEVIATION: f32 = 0.02;

/// A generator of random weights. It uses SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random {
    /// The generator's state. Its initial value is the seed and may be any number.
    pub state: u64,
}

impl Random {
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a nearly normal number with mean 0 and standard deviation 1: the scaled sum of four
    /// uniform 16-bit numbers. An exact method would compute a logarithm and a cosine for each of
    /// hundreds of millions of weights, which would take longer than writing them.
    fn normal(&mut self) -> f32 {
        let z = self.bits();
        let sum = (z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48);
        // A uniform number from 0 to 65,535 has mean 65,535/2 and variance of about 65,536²/12. For
        // the sum of four, both are four times as large.
        (sum as f32 - 2.0 * 65_535.0) / (65_536.0 / 3f32.sqrt())
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let mut words = bytes.chunks_exact_mut(8);
        for word in &mut words {
            word.copy_from_slice(&self.bits().to_le_bytes());
        }
        let last = self.bits().to_le_bytes();
        let rest = words.into_remainder();
        rest.copy_from_slice(&last[..rest.len()]);
    }

    /// Writes `count` random weights of this type, which must be a whole number of blocks. Their
    /// mean is `mean` (for quantized types, about 0), and their standard deviation is about 0.02.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn write(
        &mut self,
        out: &mut (impl Write + ?Sized),
        tensor_type: TensorType,
        count: usize,
        mean: f32,
    ) -> io::Result<()> {
        const BLOCKS: usize = 1 << 12;
        let size = tensor_type.block_bytes();
        let blocks = count / tensor_type.block_len();
        let mut bytes = vec![0; BLOCKS * size];
        for start in (0..blocks).step_by(BLOCKS) {
            let bytes = &mut bytes[..BLOCKS.min(blocks - start) * size];
            self.draw(tensor_type, bytes, mean);
            out.write_all(bytes)?;
        }
        Ok(())
    }

    fn draw(&mut self, tensor_type: TensorType, bytes: &mut [u8], mean: f32) {
        let size = tensor_type.block_bytes();
        let mut value = || mean + DEVIATION * self.normal();
        match tensor_type {
            TensorType::F32 => {
                bytes
                    .chunks_exact_mut(size)
                    .for_each(|b| b.copy_from_slice(&value().to_le_bytes()));
            }
            TensorType::F16 => bytes
                .chunks_exact_mut(size)
                .for_each(|b| b.copy_from_slice(&f16::from_f32(value()).to_le_bytes())),
            TensorType::BF16 => bytes
                .chunks_exact_mut(size)
                .for_each(|b| b.copy_from_slice(&bf16::from_f32(value()).to_le_bytes())),
            _ => {
                self.fill(bytes);
                bytes.chunks_exact_mut(size).for_each(|block| tame(tensor_type, block));
            }
        }
    }
}

/// Turns random bytes into a block of weights around 0. Sets the scales so that uniformly
/// distributed codes give weights with a standard deviation of about [`DEVIATION`].
fn tame(tensor_type: TensorType, block: &mut [u8]) {
    // Standard deviation of a code that is uniform over `levels` values.
    let of_codes = |levels: f32| ((levels * levels - 1.0) / 12.0).sqrt();
    let mut put = |at: usize, value: f32| {
        block[at..at + 2].copy_from_slice(&f16::from_f32(value).to_le_bytes());
    };
    // Root mean square of a group's scale, for groups with a 4-, 6- or 8-bit scale.
    let (rms_u4, rms_u6, rms_i6, rms_i8) = (8.803, 36.52, 18.48, 73.90);
    match tensor_type {
        TensorType::F32 | TensorType::F16 | TensorType::BF16 => {}
        // The values of the 16 codes have a mean square of 8.56, which is 2.93².
        TensorType::MXFP4 => block[0] = (127.0 + (DEVIATION / 2.93).log2()).round() as u8,
        // d · (code - half)
        TensorType::Q4_0 => put(0, DEVIATION / of_codes(16.0)),
        TensorType::Q5_0 => put(0, DEVIATION / of_codes(32.0)),
        TensorType::Q8_0 => put(0, DEVIATION / of_codes(256.0)),
        // d · code + m. m makes the mean 0.
        TensorType::Q4_1 => {
            put(0, DEVIATION / of_codes(16.0));
            put(2, -7.5 * DEVIATION / of_codes(16.0));
        }
        TensorType::Q5_1 => {
            put(0, DEVIATION / of_codes(32.0));
            put(2, -15.5 * DEVIATION / of_codes(32.0));
        }
        // d · scale · code, signed
        TensorType::Q3_K => put(108, DEVIATION / (rms_i6 * of_codes(8.0))),
        TensorType::Q6_K => put(208, DEVIATION / (rms_i8 * of_codes(64.0))),
        // d · scale · code − dmin · min. Each group's min equals its scale, and dmin makes the mean
        // 0.
        TensorType::Q2_K => {
            let d = DEVIATION / (rms_u4 * of_codes(4.0));
            put(80, d);
            put(82, 1.5 * d);
            block[..16].iter_mut().for_each(|b| *b = *b & 15 | *b << 4);
        }
        TensorType::Q4_K | TensorType::Q5_K => {
            let levels = if tensor_type == TensorType::Q4_K { 16.0 } else { 32.0 };
            let d = DEVIATION / (rms_u6 * of_codes(levels));
            put(0, d);
            put(2, 0.5 * (levels - 1.0) * d);
            block.copy_within(4..8, 8);
            block[12..16].iter_mut().for_each(|b| *b = *b & 15 | *b << 4);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_have_mean_0_and_deviation_1() {
        let mut random = Random { state: 3 };
        let n = 1 << 16;
        let values: Vec<f64> = (0..n).map(|_| f64::from(random.normal())).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        // Five standard errors. The standard error is 1/√n for the mean, and at most √(2/n) for the
        // variance.
        assert!(mean.abs() < 5.0 / 256.0, "mean {mean}");
        assert!((variance - 1.0).abs() < 5.0 * 2f64.sqrt() / 256.0, "variance {variance}");
    }

    #[test]
    fn writes_whole_blocks_of_every_type() {
        for tensor_type in TensorType::ALL {
            let mut bytes = Vec::new();
            Random { state: 1 }.write(&mut bytes, tensor_type, 5000 * 256, 0.0).unwrap();
            assert_eq!(
                bytes.len(),
                5000 * 256 / tensor_type.block_len() * tensor_type.block_bytes(),
                "{tensor_type}"
            );
        }
    }
}
