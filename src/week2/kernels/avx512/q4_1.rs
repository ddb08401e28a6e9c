//! [`Q4_1`](crate::week2::blocks::q4_1): two codes in a byte, and a minimum.

use super::{
    blocks::{self, Quad},
    panel,
    words::{Bytes, halves, nibbles},
};
use crate::week2::{blocks::q4_1, input::Input, matrix::Matrix, parallel::Tile};

/// Of four blocks.
const BYTES: usize = 4 * q4_1::BYTES;

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<BYTES, 0, true>(weight, x, tile, |quad| unpack(quad));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    panel::multiply::<32, 0, true, true>(weight, x, tile, blocks::ORDER, |bytes| blocks::row(bytes, |quad| unpack(quad)));
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn unpack(quad: &[u8; BYTES]) -> Quad {
    let bytes = &Bytes::load(quad);
    Quad { codes: nibbles::<BYTES, 4>(bytes), scales: halves::<BYTES, 0>(bytes), minimums: halves::<BYTES, 2>(bytes) }
}
