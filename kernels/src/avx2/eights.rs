//! Products with weights in the layout of [`repack`](crate::repack): a block of each of eight rows,
//! side by side. Nothing has to be transposed, and all eight rows are read as one stream of bytes.
//! Any number of rows of activations is multiplied in the same way, one row as well as many.

use std::arch::x86_64::*;

use super::{
    columns::{
        CHUNK, COLUMNS, Columns, Lanes, add_pairs, depth, each_eight, load, store, super_block,
    },
    lanes::{load as load_bytes, load_half, part},
};
use crate::{
    format::Format,
    input::{BLOCK, Input, Int8SuperBlock, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{behind, prefetch},
    repack::EIGHT as ROWS,
};

/// Returns the bytes of the eight rows of a matrix that start at row `first`.
///
/// # Panics
/// If the matrix isn't repacked, or `first` isn't a multiple of eight.
#[inline]
fn eight_rows(weight: &Matrix, first: usize) -> &[u8] {
    assert!(first.is_multiple_of(ROWS), "a tile of repacked weights starts at row {first}");
    weight.side_by_side(ROWS, first / ROWS).expect("a repacked matrix")
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). `unpack` must unpack a block of
/// 32 weights of each of eight rows.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn blocks<F: Format, const WIDE: usize, const PLANES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    unpack: impl Fn(&[u8; WIDE]) -> Columns<PLANES>,
) {
    let ahead = behind(WIDE);
    each_eight::<F, PLANES, _>(x, tile, |rows| {
        let blocks: &[[u8; WIDE]] = eight_rows(weight, rows.start).as_chunks().0;
        let unpack = &unpack;
        move |b| {
            prefetch(&blocks[b], ahead);
            unpack(&blocks[b])
        }
    });
}

/// Everything in eight blocks of 256 weights except their codes, with one lane per row.
pub(super) struct Heads {
    /// The factor of each row, by which its scales are multiplied.
    pub(super) d: __m256,
    /// The factor of each row, by which its minimums are multiplied.
    pub(super) dmin: __m256,
    /// Scales as pairs of equal numbers, one register for every 16 weights. In formats with a scale
    /// for 32 weights, there is one register for every 32, and only the first eight are used.
    pub(super) scales: [__m256i; SUPER_BLOCK / 16],
    /// Minimums, one register for every 32 weights. The two numbers of a lane belong to the first
    /// and the second 16 weights.
    pub(super) minimums: [__m256i; SUPER_BLOCK / BLOCK],
}

/// Like [`blocks()`], for blocks of 256 weights. `codes(block, j)` must unpack the codes of
/// weights `32j…32j + 31`.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn super_blocks<F: Format, const WIDE: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    heads: impl Fn(&[u8; WIDE]) -> Heads,
    codes: impl Fn(&[u8; WIDE], usize) -> [__m256i; COLUMNS],
) {
    let ahead = behind(WIDE);
    let mut sums = [Lanes([0.0; ROWS]); CHUNK];
    let mut products = [_mm256_setzero_si256(); CHUNK];
    let (cols, tokens) = (tile.cols(), tile.rows());
    for first in cols.clone().step_by(ROWS) {
        let blocks: &[[u8; WIDE]] = eight_rows(weight, first).as_chunks().0;
        for start in tokens.clone().step_by(CHUNK) {
            let end = tokens.end.min(start + CHUNK);
            let sums = &mut sums[..end - start];
            sums.fill(Lanes([0.0; ROWS]));
            for (g, block) in blocks.iter().enumerate() {
                prefetch(block, ahead);
                let heads = heads(block);
                let x = || super_block(x, start, g);
                products[..end - start].fill(_mm256_setzero_si256());
                for j in 0..SUPER_BLOCK / BLOCK {
                    let codes = codes(block, j);
                    for (x, products) in x().zip(&mut products[..end - start]) {
                        let sum = self::products::<F>(&codes, x, j, &heads.scales);
                        *products = _mm256_add_epi32(*products, sum);
                    }
                }
                for ((x, sum), products) in x().zip(&mut *sums).zip(&products) {
                    finish(sum, &heads, x, *products);
                }
            }
            let there = ROWS.min(cols.end - first);
            for (t, sums) in (start..end).zip(&*sums) {
                tile.row_mut(t)[first - cols.start..][..there].copy_from_slice(&sums.0[..there]);
            }
        }
    }
}

/// Multiplies codes by activations `32j…32j + 31` and by the codes' integer scales, and returns the
/// sum for each row.
#[inline]
#[target_feature(enable = "avx2")]
fn products<F: Format>(
    codes: &[__m256i; COLUMNS],
    x: &Int8SuperBlock,
    j: usize,
    scales: &[__m256i; SUPER_BLOCK / 16],
) -> __m256i {
    let per_scale = F::PER_SCALE / 4;
    let depth = const {
        let fits = depth(F::HIGHEST);
        if fits < F::PER_SCALE / 4 { fits } else { F::PER_SCALE / 4 }
    };
    let quads: &[[i8; 4]] = &x.values.as_chunks().0[COLUMNS * j..][..COLUMNS];
    let mut sum = _mm256_setzero_si256();
    for i in 0..COLUMNS / depth {
        let narrow = add_pairs(&codes[i * depth..][..depth], &quads[i * depth..]);
        let scale = scales[(COLUMNS * j + i * depth) / per_scale];
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(narrow, scale));
    }
    sum
}

/// Scales `products`, the sums of a block of each row, subtracts the blocks' minimums, and adds the
/// result to `sum`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn finish(sum: &mut Lanes, heads: &Heads, x: &Int8SuperBlock, products: __m256i) {
    let mut shift = _mm256_setzero_si256();
    for (minimums, &[low, high]) in heads.minimums.iter().zip(x.sums.as_chunks().0) {
        let sums = _mm256_set1_epi32(i32::from(low as u16) | i32::from(high) << 16);
        shift = _mm256_add_epi32(shift, _mm256_madd_epi16(*minimums, sums));
    }
    let scaled = _mm256_mul_ps(heads.d, _mm256_cvtepi32_ps(products));
    let products = _mm256_fnmadd_ps(heads.dmin, _mm256_cvtepi32_ps(shift), scaled);
    let total = _mm256_fmadd_ps(_mm256_set1_ps(x.scales[0]), products, load(sum));
    store(sum, total);
}

/// Converts the half-precision numbers of eight rows, which begin at byte `AT` of `block`, to f32.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn halves<const AT: usize>(block: &[u8]) -> __m256 {
    _mm256_cvtph_ps(load_half(part(block, AT)))
}

/// Returns word `i` of each row: the four bytes at `AT / 8 + 4i` of its block.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn words<const AT: usize>(block: &[u8], i: usize) -> __m256i {
    load_bytes(part(block, AT + 32 * i))
}

/// Unpacks 32 codes of each row from four words. Each byte holds two codes: columns `0…15` are in
/// the low nibbles, columns `16…31` in the high nibbles.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn nibbles<const AT: usize>(block: &[u8]) -> [__m256i; COLUMNS] {
    let mut codes = [_mm256_setzero_si256(); COLUMNS];
    let low = _mm256_set1_epi8(15);
    for k in 0..COLUMNS / 2 {
        let both = words::<AT>(block, k);
        codes[k] = _mm256_and_si256(both, low);
        codes[k + COLUMNS / 2] = _mm256_and_si256(_mm256_srli_epi16::<4>(both), low);
    }
    codes
}

/// Returns bytes `first` and `second` of each word as the upper bytes of two numbers of 16 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn upper_bytes(words: __m256i, [first, second]: [i32; 2]) -> __m256i {
    // An index of 0x80 gives a zero.
    let of_first_word = _mm256_set1_epi32(0x0080_0080 | first << 8 | second << 24);
    let word = |i: i32| 0x0400_0400 * i;
    let words_of_lane =
        _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(0), word(1), word(2), word(3));
    _mm256_shuffle_epi8(words, _mm256_add_epi32(of_first_word, words_of_lane))
}
