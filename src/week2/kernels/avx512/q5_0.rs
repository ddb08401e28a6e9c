//! [`Q5_0`](crate::week2::blocks::q5_0): four bits of a code in half a byte, the fifth in a number of its own; 16 too high.

use std::arch::x86_64::*;

use super::{
    blocks::{self, Quad},
    panel,
    words::{Bytes, header, nibbles, with_fifth},
};
use crate::week2::{blocks::q5_0, input::Input, matrix::Matrix, parallel::Tile};

/// Of four blocks.
const BYTES: usize = 4 * q5_0::BYTES;

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<BYTES, 16, false>(weight, x, tile, |quad| unpack(quad));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    panel::multiply::<32, 16, false, true>(weight, x, tile, blocks::ORDER, |bytes| blocks::row(bytes, |quad| unpack(quad)));
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn unpack(quad: &[u8; BYTES]) -> Quad {
    let bytes = &Bytes::load(quad);
    let (scales, bits) = header::<BYTES, 0, 2>(bytes);
    Quad { codes: with_fifth(nibbles::<BYTES, 6>(bytes), bits), scales, minimums: _mm512_setzero_ps() }
}
