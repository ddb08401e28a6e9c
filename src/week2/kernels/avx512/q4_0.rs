//! [`Q4_0`](crate::week2::blocks::q4_0): two codes in a byte, 8 too high.

use std::arch::x86_64::*;

use super::{
    blocks::{self, Quad, lanes_at, nibbles},
    panel,
};
use crate::week2::{blocks::q4_0::BYTES, input::Input, matrix::Matrix, parallel::Tile};

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<BYTES, 8, false>(weight, x, tile, |quad| unpack(quad));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    panel::multiply::<32, 8, false>(weight, x, tile, blocks::ORDER, |bytes| blocks::row::<BYTES, false>(bytes, |quad| unpack(quad)));
}

/// The codes, in 0…15.
#[inline]
#[target_feature(enable = "avx512bw")]
fn unpack(quad: &Quad<BYTES>) -> [__m512i; 2] {
    nibbles(lanes_at::<BYTES, 2>(quad))
}
