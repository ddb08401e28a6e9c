//! Formats that the course does not teach, and common functions for all formats.
//!
//! There is one file per format. In a mapped file, a block may begin at any address, so it is read
//! as unaligned bytes.

pub mod mxfp4;
pub mod q2_k;
pub mod q3_k;
pub mod q4_1;
pub mod q5_1;
pub mod q5_k;
pub mod share;
pub(crate) mod six_bits;

use half::f16;

/// Returns the half-precision number that begins at byte `at` of the block.
pub fn f16_at(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

/// Writes `x`, rounded to a half-precision number, to the bytes that begin at `at`.
pub fn put_f16(block: &mut [u8], at: usize, x: f32) {
    block[at..at + 2].copy_from_slice(&f16::from_f32(x).to_le_bytes());
}

/// Returns the smallest and the largest of `x`.
fn range(x: &[f32; 32]) -> (f32, f32) {
    let smallest = x.iter().fold(x[0], |min, &x| if x < min { x } else { min });
    let largest = x.iter().fold(x[0], |max, &x| if x > max { x } else { max });
    (smallest, largest)
}
