//! Computes the integer sums of a block's products, as a part of multiplying panels.

use std::arch::x86_64::*;

use crate::input::Int8SuperBlock;

/// The sums of 16 rows of each of two panels.
pub(super) type Sums = [__m512; 2];

/// Computes the integer sums of a block for each row of activations and each panel. Each sum begins
/// with the block's value in `$starts`. To that, the macro adds the products of codes and
/// activations that share a scale. This is a macro, so that the sums stay in registers.
macro_rules! integers {
    ($format:ident, $n:ident, $code:ident, $x:ident, $block:expr, $starts:ident) => {{
        let mut sums = [[_mm512_setzero_si512(); 2]; $n];
        for n in 0..$n {
            sums[n] = [_mm512_set1_epi32($starts[n][$block]); 2];
        }
        let fours = $format::PER_SCALE / 4;
        for i in 0..fours {
            let i = $block * fours + i;
            let codes = [$code(0, i), $code(1, i)];
            for n in 0..$n {
                let four = _mm512_set1_epi32(four_at($x[n], i));
                for h in 0..2 {
                    sums[n][h] = _mm512_dpbusd_epi32(sums[n][h], codes[h], four);
                }
            }
        }
        sums
    }};
}
pub(super) use integers;

/// Returns activations 4i to 4i + 3 as one integer.
#[inline(always)]
pub(super) fn four_at(x: &Int8SuperBlock, i: usize) -> i32 {
    let v = &x.values[4 * i..4 * i + 4];
    i32::from_le_bytes([v[0] as u8, v[1] as u8, v[2] as u8, v[3] as u8])
}
