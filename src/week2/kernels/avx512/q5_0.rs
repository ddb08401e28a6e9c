//! [`Q5_0`](crate::week2::blocks::q5_0): four bits of a code in half a byte, the fifth in a number of its own; 16 too high.

use std::arch::x86_64::*;

use super::{
    blocks::{self, Quad, lanes_at, nibbles, with_fifth_bits},
    panel,
};
use crate::week2::{blocks::q5_0::BYTES, input::Input, matrix::Matrix, parallel::Tile};

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<BYTES, 16, false>(weight, x, tile, |quad| unpack(quad));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    panel::multiply::<32, 16, false>(weight, x, tile, blocks::ORDER, |bytes| blocks::row::<BYTES, false>(bytes, |quad| unpack(quad)));
}

/// The codes, in 0…31.
#[inline]
#[target_feature(enable = "avx512bw")]
fn unpack(quad: &Quad<BYTES>) -> [__m512i; 2] {
    with_fifth_bits::<BYTES, 2>(nibbles(lanes_at::<BYTES, 6>(quad)), quad)
}
