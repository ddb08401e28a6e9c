//! Activations in the layout of tiles: 16 rows side by side.

use super::unit::{ROW, SIDE};
use crate::int8::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK};

/// 256 columns of 16 rows of activations. Missing rows are zeros.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Int8Tile {
    /// Values. Each line holds four columns of each of the 16 rows. The matrix unit loads 16 lines
    /// (64 columns) or eight lines (32 columns) at a time.
    pub(crate) values: [[i8; ROW]; SUPER_BLOCK / 4],
    /// The scales of the 16 rows, for each block of 32 columns.
    pub(crate) scales: [[f32; SIDE]; SUPER_BLOCK / BLOCK],
    /// The sums of each row's activations (values times scale), for each block of 32 columns. The
    /// weights' minimums are multiplied by these sums.
    pub(crate) totals: [[f32; SIDE]; SUPER_BLOCK / BLOCK],
    /// The integer sums of each row's values, for each block of 32 columns. Integer minimums of
    /// weights are multiplied by these sums. Each element holds two 16-bit sums.
    pub(crate) sums: [[i32; SIDE]; SUPER_BLOCK / BLOCK / 2],
    /// The integer sums of each row's values, for every 16 columns, in the layout of `sums`.
    pub(crate) finer_sums: [[i32; SIDE]; SUPER_BLOCK / SUM / 2],
}

impl Default for Int8Tile {
    fn default() -> Self {
        Self {
            values: [[0; ROW]; SUPER_BLOCK / 4],
            scales: [[0.0; SIDE]; SUPER_BLOCK / BLOCK],
            totals: [[0.0; SIDE]; SUPER_BLOCK / BLOCK],
            sums: [[0; SIDE]; SUPER_BLOCK / BLOCK / 2],
            finer_sums: [[0; SIDE]; SUPER_BLOCK / SUM / 2],
        }
    }
}

/// A super-block of zeros, which replaces a missing row.
static NOTHING: Int8SuperBlock =
    Int8SuperBlock { values: [0; SUPER_BLOCK], sums: [0; 16], scales: [0.0; 8] };

impl Int8Tile {
    /// Fills the tile with a super-block of each of up to 16 rows of activations.
    pub(crate) fn fill<'a>(&mut self, rows: impl Iterator<Item = &'a Int8SuperBlock>) {
        let mut all = [&NOTHING; SIDE];
        all.iter_mut().zip(rows).for_each(|(to, row)| *to = row);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512bw") {
            // SAFETY: the processor has the instructions.
            return unsafe { turned::fill(self, all) };
        }
        self.fill_one_by_one(all);
    }

    fn fill_one_by_one(&mut self, rows: [&Int8SuperBlock; SIDE]) {
        for (n, x) in rows.into_iter().enumerate() {
            for (line, four) in self.values.iter_mut().zip(x.values.as_chunks::<4>().0) {
                line.as_chunks_mut::<4>().0[n] = *four;
            }
            for block in 0..SUPER_BLOCK / BLOCK {
                let sum = x.sums[2 * block] + x.sums[2 * block + 1];
                self.scales[block][n] = x.scales[block];
                self.totals[block][n] = f32::from(sum) * x.scales[block];
                self.finer_sums[block][n] = two(x.sums[2 * block], x.sums[2 * block + 1]);
            }
            for (line, four) in self.sums.iter_mut().zip(x.sums.as_chunks::<4>().0) {
                line[n] = two(four[0] + four[1], four[2] + four[3]);
            }
        }
    }
}

/// Packs two 16-bit numbers into one 32-bit number, with `a` in the lower half.
fn two(a: i16, b: i16) -> i32 {
    i32::from(a) & 0xffff | i32::from(b) << 16
}

const _: () = assert!(BLOCK == 2 * SUM, "a block's sum of activations is that of two");

/// Fills tiles with 512-bit instructions that transpose rows of 32-bit elements.
#[cfg(target_arch = "x86_64")]
mod turned {
    use std::{arch::x86_64::*, mem::offset_of};

    use super::{Int8SuperBlock, Int8Tile, ROW, SIDE, SUPER_BLOCK};
    use crate::avx512::lanes::transpose;

    // After the values, 64 more bytes hold the sums, two in each 32-bit element, and then the
    // scales.
    const _: () = assert!(offset_of!(Int8SuperBlock, sums) == SUPER_BLOCK);
    const _: () = assert!(offset_of!(Int8SuperBlock, scales) == SUPER_BLOCK + ROW / 2);
    const _: () = assert!(size_of::<Int8SuperBlock>() == SUPER_BLOCK + ROW);

    #[target_feature(enable = "avx512bw")]
    pub(super) fn fill(tile: &mut Int8Tile, rows: [&Int8SuperBlock; SIDE]) {
        for quarter in 0..4 {
            let turned = transpose(sixty_four_bytes(rows, ROW * quarter));
            for (line, turned) in tile.values[SIDE * quarter..][..SIDE].iter_mut().zip(turned) {
                // SAFETY: a line is 64 bytes.
                unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), turned) };
            }
        }
        let turned = transpose(sixty_four_bytes(rows, SUPER_BLOCK));
        let mut sums = [_mm512_setzero_si512(); 8];
        for block in 0..8 {
            let (finer, scales) = (turned[block], _mm512_castsi512_ps(turned[8 + block]));
            sums[block] = _mm512_madd_epi16(finer, _mm512_set1_epi16(1));
            let totals = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[block]), scales);
            // SAFETY: each store writes 64 bytes, which is 16 numbers of 32 bits.
            unsafe {
                _mm512_storeu_si512(tile.finer_sums[block].as_mut_ptr().cast(), finer);
                _mm512_storeu_ps(tile.scales[block].as_mut_ptr(), scales);
                _mm512_storeu_ps(tile.totals[block].as_mut_ptr(), totals);
            }
        }
        for (i, to) in tile.sums.iter_mut().enumerate() {
            let upper = _mm512_slli_epi32::<16>(sums[2 * i + 1]);
            let both = _mm512_mask_blend_epi16(0x5555_5555, upper, sums[2 * i]);
            // SAFETY: the store writes 64 bytes, which is 16 numbers of 32 bits.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), both) };
        }
    }

    /// Loads 64 bytes of each row's super-block, starting at byte `at`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn sixty_four_bytes(rows: [&Int8SuperBlock; SIDE], at: usize) -> [__m512i; SIDE] {
        assert!(at + ROW <= size_of::<Int8SuperBlock>(), "bytes of a super-block");
        let mut v = [_mm512_setzero_si512(); SIDE];
        for i in 0..SIDE {
            // SAFETY: the 64 bytes are within the super-block. All of them are initialized, because
            // there is no padding between the fields (see above).
            v[i] = unsafe {
                _mm512_loadu_si512(std::ptr::from_ref(rows[i]).cast::<u8>().add(at).cast())
            };
        }
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amx::tests::Random;

    #[test]
    fn vector_fill_matches_the_scalar_fill() {
        let mut random = Random(11);
        for count in [0, 1, 7, 15, 16] {
            let rows: Vec<Int8SuperBlock> = (0..count)
                .map(|_| {
                    let values = std::array::from_fn(|_| (random.next() as i8).max(-127));
                    let scales = std::array::from_fn(|_| (random.next() % 999) as f32 / 7e4);
                    let sum = |s: usize| values[16 * s..][..16].iter().map(|&x: &i8| i16::from(x));
                    let sums = std::array::from_fn(|s| sum(s).sum());
                    Int8SuperBlock { values, sums, scales }
                })
                .collect();
            let mut found = Int8Tile::default();
            // The previous contents of a tile must be overwritten.
            found.fill([&rows[..], &rows[..]].concat().iter().chain(&vec![
                Int8SuperBlock {
                    values: [9; SUPER_BLOCK],
                    sums: [9; 16],
                    scales: [9.0; 8]
                };
                SIDE
            ]));
            found.fill(rows.iter());
            let mut expected = Int8Tile::default();
            let mut all = [&NOTHING; SIDE];
            all.iter_mut().zip(&rows).for_each(|(to, row)| *to = row);
            expected.fill_one_by_one(all);
            assert!(found == expected, "{count} rows");
        }
    }
}
