//! [`Q8_0`](crate::week2::blocks::q8_0): codes are signed bytes.

use std::arch::x86_64::*;

use super::{
    blocks::{self, Quad, lanes_at},
    panel,
};
use crate::week2::{blocks::q8_0::BYTES, input::Input, matrix::Matrix, parallel::Tile};

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<BYTES, 128, false>(weight, x, tile, |quad| unpack(quad));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    panel::multiply::<32, 128, false>(weight, x, tile, blocks::ORDER, |bytes| blocks::row::<BYTES, false>(bytes, |quad| unpack(quad)));
}

/// The codes and 128, in 0…255: `vpdpbusd` wants one operand unsigned.
#[inline]
#[target_feature(enable = "avx512bw")]
fn unpack(quad: &Quad<BYTES>) -> [__m512i; 2] {
    let sign = _mm512_set1_epi8(-128);
    [_mm512_xor_si512(lanes_at::<BYTES, 2>(quad), sign), _mm512_xor_si512(lanes_at::<BYTES, 18>(quad), sign)]
}
