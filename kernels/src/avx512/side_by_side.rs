//! Products with weights in the layout of [`repack`](crate::repack): a block of each of sixteen
//! rows, side by side. Nothing has to be transposed, and all sixteen rows are read as one stream of
//! bytes. With a few rows of activations, codes are unpacked into registers
//! ([`two_streams`](super::two_streams)); with more, into panels.

use std::arch::x86_64::*;

use super::{
    lanes::{load32, load64, part},
    many::{each_panel, super_block_bytes},
    panel::{Factors, LANES},
    two_streams::few,
};
use crate::{
    format::Format,
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    repack::SIXTEEN,
};

/// Maximum number of rows of activations that are multiplied without panels.
const FEW: usize = 4;

/// Computes a tile of the output; see [`Kernel`](crate::Kernel). A block of each of sixteen rows has
/// `WIDE` bytes. `set(factors, i, block)` must unpack everything in these blocks except the codes,
/// into places for block `i` of a super-block. `code(block, i)` must unpack the codes of columns 4i
/// to 4i + 3.
///
/// # Panics
/// If the matrix isn't repacked for AVX-512, or the tile doesn't start at a multiple of sixteen
/// rows of weights.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format, const WIDE: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    set: impl Fn(&mut Factors, usize, &[u8; WIDE]),
    code: impl Fn(&[u8; WIDE], usize) -> __m512i,
) {
    const { assert!(SIXTEEN == LANES) };
    let first = tile.cols().start;
    assert!(first.is_multiple_of(LANES), "a tile of repacked weights starts at row {first}");
    match tile.rows().len() {
        1 => few::<F, WIDE, 1>(weight, x, tile, set, code),
        2 => few::<F, WIDE, 2>(weight, x, tile, set, code),
        ..=FEW => few::<F, WIDE, FEW>(weight, x, tile, set, code),
        _ => {
            let size = LANES * super_block_bytes(weight);
            each_panel::<F>(weight, x, tile, |panel, place| {
                let (row, g) = (place.rows.start + place.half * LANES, place.super_block);
                // The next columns are prefetched while these are multiplied. After the last
                // columns come rows after those of the other panel.
                let ahead = match distance() {
                    0 => 0,
                    _ if g + 1 < x.super_blocks() => size,
                    _ => 2 * LANES * weight.row_bytes() - g * size,
                };
                let fours = const { F::TYPE.block_len() / 4 };
                let codes = panel.codes.chunks_exact_mut(fours);
                let blocks = blocks(weight, row, g).iter().enumerate();
                for ((i, block), codes) in blocks.zip(codes) {
                    prefetch(block, ahead);
                    set(&mut panel.factors, i, block);
                    // Eight by eight, because the compiler unrolls such a loop.
                    for (j, codes) in codes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                        for k in 0..8 {
                            codes[k] = code(block, 8 * j + k);
                        }
                    }
                }
            });
        }
    }
}

/// Returns the blocks of super-block `g` of sixteen rows. If `row`, the first of them, is past the
/// end of the matrix, returns the last sixteen rows instead.
#[inline(always)]
pub(super) fn blocks<const WIDE: usize>(weight: &Matrix, row: usize, g: usize) -> &[[u8; WIDE]] {
    let group = row.min(weight.rows - LANES) / LANES;
    let rows = weight.side_by_side(LANES, group).expect("a repacked matrix");
    let size = LANES * super_block_bytes(weight);
    rows[g * size..rows.len().min((g + 1) * size)].as_chunks().0
}

/// Returns how many bytes after the start of a block of `wide` bytes to prefetch, or 0 if
/// prefetching is off. A block's bytes are not read from first to last, so the usual distance is
/// counted from the block's end.
#[inline]
pub(super) fn ahead(wide: usize) -> usize {
    match distance() {
        0 => 0,
        distance => wide + distance,
    }
}

/// Returns word `i` of each row: the four bytes at `AT / 16 + 4i` of its block.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn word<const AT: usize>(block: &[u8], i: usize) -> __m512i {
    load64(part(block, AT + 64 * i))
}

/// Returns the low nibbles of all bytes, or the high ones if `high` is 1.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn nibble(bytes: __m512i, high: usize) -> __m512i {
    let moved = _mm512_srl_epi16(bytes, _mm_cvtsi32_si128(4 * high as i32));
    _mm512_and_si512(moved, _mm512_set1_epi8(15))
}

/// Converts the sixteen half-precision numbers at byte `AT` to f32.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn halves<const AT: usize>(block: &[u8]) -> __m512i {
    _mm512_castps_si512(_mm512_cvtph_ps(load32(part(block, AT))))
}

impl Factors {
    /// Unpacks the first 16 bytes of blocks of `Q4_K` or `Q5_K`.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_sub_blocks(&mut self, block: &[u8]) {
        self.minimums[8] = halves::<0>(block);
        self.minimums[9] = halves::<{ LANES * 2 }>(block);
        self.set_six_bits([0, 1, 2].map(|i| word::<{ LANES * 4 }>(block, i)));
    }
}
