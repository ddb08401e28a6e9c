//! Products of blocks of 32 weights and many rows of activations.
//!
//! A block of each of eight rows of weights is unpacked into registers. A register holds four
//! neighbouring codes of each row, so one instruction multiplies four activations, repeated on all
//! lanes, by eight rows. Each lane of the result belongs to one row, and nothing is added across
//! lanes. The codes stay in registers until all rows of activations are multiplied by them.
//! [`blocks`](super::blocks) describes the order of additions.
//!
//! The codes of most formats are so small that several sums of two products can be added in 16 bits
//! before the total is widened. Q8_0's codes are too large for that, so their lower and upper four
//! bits are multiplied separately.

use std::{arch::x86_64::*, ops::Range};

use super::panel::transpose;
use crate::{
    blocks::mxfp4,
    format::{Format, Zero, power_of_two},
    input::{BLOCK, Input, Int8SuperBlock, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
    prefetch::prefetch,
};

/// Number of weight rows that are multiplied at once, one for each lane.
const ROWS: usize = 8;
/// Number of registers for the codes of a block of each of eight rows.
pub(super) const COLUMNS: usize = BLOCK / 4;
/// Maximum number of rows of activations whose sums are kept at a time.
pub(super) const CHUNK: usize = 64;

/// Returns how many sums of two products can be added in 16 bits, if codes are at most `highest`.
pub(super) const fn depth(highest: u8) -> usize {
    let pair = 2 * highest as usize * 127;
    let mut depth = 8;
    while depth * pair > i16::MAX as usize {
        depth /= 2;
    }
    depth
}

/// A block of each of eight rows of weights.
pub(super) struct Columns<const PLANES: usize> {
    /// One plane of whole codes, or two planes: the lower and the upper four bits of each code.
    /// Register `k` of a plane holds columns `4k…4k + 3`.
    pub(super) codes: [[__m256i; COLUMNS]; PLANES],
    pub(super) scales: __m256,
    /// Minimums. Unused in a format with an offset.
    pub(super) minimums: __m256,
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). `codes` must unpack the 32 codes
/// of a block, and `split` must divide a register of codes into planes: one plane of whole codes,
/// or two planes with four bits of each code.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn multiply<F: Format, const BYTES: usize, const PLANES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    codes: impl Fn(&[u8; BYTES]) -> __m256i,
    split: impl Fn(__m256i) -> [__m256i; PLANES],
) {
    let ahead = ROWS * weight.row_bytes();
    each_eight::<F, PLANES, _>(x, tile, |rows| {
        // Rows past the end of the tile repeat its last row. Their results aren't written.
        let rows: [&[[u8; BYTES]]; ROWS] =
            std::array::from_fn(|i| weight.row((rows.start + i).min(rows.end - 1)).as_chunks().0);
        let (codes, split) = (&codes, &split);
        move |b| unpack::<F, BYTES, PLANES>(&rows, b, ahead, codes, split)
    });
}

/// Computes a tile of the output, eight rows of weights at a time. `blocks(rows)` must return a
/// function that unpacks block `b` of these rows. At the end of the tile, `rows` may be fewer than
/// eight.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn each_eight<F: Format, const PLANES: usize, U: Fn(usize) -> Columns<PLANES>>(
    x: &Input,
    tile: &mut Tile<'_, f32>,
    blocks: impl Fn(Range<usize>) -> U,
) {
    let (mut sums, mut pairs) = ([Lanes([0.0; ROWS]); CHUNK], [Lanes([0.0; ROWS]); CHUNK]);
    let (cols, tokens) = (tile.cols(), tile.rows());
    for first in cols.clone().step_by(ROWS) {
        let rows = first..cols.end.min(first + ROWS);
        let unpack = blocks(rows.clone());
        for start in tokens.clone().step_by(CHUNK) {
            let end = tokens.end.min(start + CHUNK);
            let (sums, pairs) = (&mut sums[..end - start], &mut pairs[..end - start]);
            sums.fill(Lanes([0.0; ROWS]));
            let blocks = x.cols / BLOCK;
            for b in 0..blocks {
                let columns = unpack(b);
                let in_super_block = b % (SUPER_BLOCK / BLOCK);
                let x = super_block(x, start, b / (SUPER_BLOCK / BLOCK));
                if b % 2 == 0 && b + 1 < blocks {
                    for (x, pair) in x.zip(&mut *pairs) {
                        let zero = _mm256_setzero_ps();
                        store(pair, add::<F, PLANES>(&columns, x, in_super_block, zero));
                    }
                } else {
                    if b % 2 == 0 {
                        // The last block has no partner.
                        pairs.fill(Lanes([0.0; ROWS]));
                    }
                    for ((x, sum), pair) in x.zip(&mut *sums).zip(&*pairs) {
                        let products = add::<F, PLANES>(&columns, x, in_super_block, load(pair));
                        store(sum, _mm256_add_ps(load(sum), products));
                    }
                }
            }
            for (t, sums) in (start..end).zip(&*sums) {
                tile.row_mut(t)[first - cols.start..][..rows.len()]
                    .copy_from_slice(&sums.0[..rows.len()]);
            }
        }
    }
}

/// Returns super-block `g` of each row of activations, starting at row `first`.
#[inline(always)]
pub(super) fn super_block(
    x: &Input,
    first: usize,
    g: usize,
) -> impl Iterator<Item = &Int8SuperBlock> {
    let per_row = x.super_blocks();
    x.int8[first * per_row..].chunks_exact(per_row).map(move |row| &row[g])
}

/// Unpacks block `b` of eight rows, and prefetches the blocks `ahead` bytes after them. `split`
/// runs after the codes are transposed, so that each code is moved only once.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn unpack<F: Format, const BYTES: usize, const PLANES: usize>(
    rows: &[&[[u8; BYTES]]; ROWS],
    b: usize,
    ahead: usize,
    codes: impl Fn(&[u8; BYTES]) -> __m256i,
    split: impl Fn(__m256i) -> [__m256i; PLANES],
) -> Columns<PLANES> {
    let mut blocks = [&rows[0][b]; ROWS];
    let mut registers = [_mm256_setzero_si256(); ROWS];
    for i in 0..ROWS {
        blocks[i] = &rows[i][b];
        prefetch(blocks[i], ahead);
        registers[i] = codes(blocks[i]);
    }
    let mut planes = [[_mm256_setzero_si256(); COLUMNS]; PLANES];
    for (k, column) in transpose(registers).into_iter().enumerate() {
        let parts = split(column);
        for plane in 0..PLANES {
            planes[plane][k] = parts[plane];
        }
    }
    Columns {
        codes: planes,
        scales: if const { power_of_two::<F>() } {
            load(&Lanes(blocks.map(|block| mxfp4::half_of_scale(block[0]))))
        } else {
            halves_at::<0, BYTES>(&blocks)
        },
        minimums: match F::ZERO {
            Zero::Minimum => halves_at::<2, BYTES>(&blocks),
            Zero::Offset(_) => _mm256_setzero_ps(),
        },
    }
}

/// Multiplies a block of each of eight rows by block `b` of `x`. Returns `sum` plus the scaled
/// products.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add<F: Format, const PLANES: usize>(
    columns: &Columns<PLANES>,
    x: &Int8SuperBlock,
    b: usize,
    sum: __m256,
) -> __m256 {
    let depth = const { depth(if PLANES == 1 { F::HIGHEST } else { 15 }) };
    let quads: &[[i8; 4]; COLUMNS] = x.values.as_chunks().0[COLUMNS * b..][..COLUMNS]
        .try_into()
        .expect("the activations of a block");
    let [low, high] = x.sums.as_chunks().0[b];
    let x_sums = _mm256_set1_epi32(i32::from(low as u16) | i32::from(high) << 16);
    let mut products = match F::ZERO {
        Zero::Offset(offset) => _mm256_madd_epi16(x_sums, _mm256_set1_epi16(-i16::from(offset))),
        Zero::Minimum => _mm256_setzero_si256(),
    };
    for plane in 0..PLANES {
        let unit = _mm256_set1_epi16(1 << (4 * plane));
        for i in 0..COLUMNS / depth {
            let codes = &columns.codes[plane][i * depth..][..depth];
            let narrow = add_pairs(codes, &quads[i * depth..]);
            products = _mm256_add_epi32(products, _mm256_madd_epi16(narrow, unit));
        }
    }
    let x_scale = _mm256_set1_ps(x.scales[b]);
    let scale = _mm256_mul_ps(columns.scales, x_scale);
    let sum = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(products), sum);
    match F::ZERO {
        Zero::Offset(_) => sum,
        Zero::Minimum => {
            let total = _mm256_madd_epi16(x_sums, _mm256_set1_epi16(1));
            let total = _mm256_mul_ps(_mm256_cvtepi32_ps(total), x_scale);
            _mm256_fmadd_ps(columns.minimums, total, sum)
        }
    }
}

/// Multiplies each register of `codes` by its four activations in `quads`. Adds up the pairs of
/// products of all registers in 16 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_pairs(codes: &[__m256i], quads: &[[i8; 4]]) -> __m256i {
    let mut narrow = _mm256_setzero_si256();
    for (codes, quad) in codes.iter().zip(quads) {
        let x = _mm256_set1_epi32(i32::from_le_bytes(quad.map(|x| x as u8)));
        narrow = _mm256_add_epi16(narrow, _mm256_maddubs_epi16(*codes, x));
    }
    narrow
}

/// Returns the half-precision numbers at byte `AT` of eight blocks. Collects them with integer
/// instructions, because the vector units are busy, then converts them together.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn halves_at<const AT: usize, const BYTES: usize>(blocks: &[&[u8; BYTES]; 8]) -> __m256 {
    let word = |i: usize| u64::from(u16::from_le_bytes([blocks[i][AT], blocks[i][AT + 1]]));
    let four =
        |i: usize| (word(i) | word(i + 1) << 16 | word(i + 2) << 32 | word(i + 3) << 48) as i64;
    _mm256_cvtph_ps(_mm_set_epi64x(four(4), four(0)))
}

/// A number for each of the eight rows of weights.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Lanes(pub(super) [f32; ROWS]);

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(Lanes(numbers): &Lanes) -> __m256 {
    // SAFETY: the load reads 32 bytes at an address that is a multiple of 32.
    unsafe { _mm256_load_ps(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(Lanes(numbers): &mut Lanes, to: __m256) {
    // SAFETY: the store writes 32 bytes at an address that is a multiple of 32.
    unsafe { _mm256_store_ps(numbers.as_mut_ptr(), to) }
}
