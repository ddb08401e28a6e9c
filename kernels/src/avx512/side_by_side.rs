//! Products with weights in the layout of [`repack`](crate::repack): a block of each of sixteen
//! rows, side by side. Nothing has to be transposed, and all sixteen rows are read as one stream of
//! bytes. With a few rows of activations, codes are unpacked into registers
//! ([`two_streams`](super::two_streams)), with more rows into panels.

use std::arch::x86_64::*;

use super::{
    many::{each_panel, super_block_bytes},
    panel::{Factors, LANES},
    sixteen_rows::blocks,
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

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). One block of each of sixteen rows,
/// side by side, takes `WIDE` bytes. `set(factors, i, block)` must unpack everything in these
/// blocks except the codes, into places for block `i` of a super-block. `code(block, i)` must
/// unpack the codes of columns 4i to 4i + 3.
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
                // While these columns are multiplied, the next columns are prefetched. After the
                // last columns, the first columns of the panel's next rows are prefetched, which
                // are 32 rows further on.
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
                    // Unpacks eight codes at a time, because the compiler unrolls such a loop.
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
