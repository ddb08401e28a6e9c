//! Float weights: each is widened to 32 bits and multiplied by activations that were not quantized.

use std::arch::{aarch64::*, asm};

use half::{bf16, f16};

use super::lanes::load_floats;
use crate::{
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    streams::{STREAMS, each_four},
};

/// Number of elements that are multiplied at a time: two registers.
const LANES: usize = 8;

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "neon")]
pub(super) fn f32(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    // SAFETY: the two loads read 32 bytes, which is eight numbers of 32 bits.
    let widen = |bytes: &[[u8; 4]; LANES]| unsafe {
        let from = bytes.as_ptr().cast::<u8>();
        [vreinterpretq_f32_u8(vld1q_u8(from)), vreinterpretq_f32_u8(vld1q_u8(from.add(16)))]
    };
    each_four(weight, tile, |rows, t| dot(rows, x.row(t), widen, f32::from_le_bytes));
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "neon")]
pub(super) fn f16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| {
        let (low, high): (float32x4_t, float32x4_t);
        // SAFETY: the load reads 16 bytes, which is eight numbers of 16 bits. The instructions read
        // and write only these registers.
        unsafe {
            asm!(
                "fcvtl {low:v}.4s, {halves:v}.4h",
                "fcvtl2 {high:v}.4s, {halves:v}.8h",
                halves = in(vreg) vld1q_u8(bytes.as_ptr().cast()),
                low = out(vreg) low,
                high = lateout(vreg) high,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        [low, high]
    };
    each_four(weight, tile, |rows, t| {
        dot(rows, x.row(t), widen, |bytes| f16::from_le_bytes(bytes).to_f32())
    });
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "neon")]
pub(super) fn bf16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| {
        // SAFETY: the load reads 16 bytes, which is eight numbers of 16 bits.
        let halves = unsafe { vreinterpretq_u16_u8(vld1q_u8(bytes.as_ptr().cast())) };
        let low = vshll_n_u16::<16>(vget_low_u16(halves));
        let high = vshll_high_n_u16::<16>(halves);
        [vreinterpretq_f32_u32(low), vreinterpretq_f32_u32(high)]
    };
    each_four(weight, tile, |rows, t| {
        dot(rows, x.row(t), widen, |bytes| bf16::from_le_bytes(bytes).to_f32())
    });
}

#[inline]
#[target_feature(enable = "neon")]
fn dot<const BYTES: usize>(
    rows: [&[u8]; STREAMS],
    x: &[f32],
    widen: impl Fn(&[[u8; BYTES]; LANES]) -> [float32x4_t; 2],
    value: impl Fn([u8; BYTES]) -> f32,
) -> [f32; STREAMS] {
    let (x, x_rest) = x.as_chunks::<LANES>();
    let rows = rows.map(|row| row.as_chunks::<BYTES>().0);
    let rest = rows.map(|row| row.as_chunks::<LANES>().1);
    let vectors = rows.map(|row| &row.as_chunks::<LANES>().0[..x.len()]);
    let mut sums = [[vdupq_n_f32(0.0); 2]; STREAMS];
    for (i, x) in x.iter().enumerate() {
        let x = [0, 1].map(|h| load_floats(&x.as_chunks().0[h]));
        for s in 0..STREAMS {
            let weights = widen(&vectors[s][i]);
            for h in 0..2 {
                sums[s][h] = vfmaq_f32(sums[s][h], weights[h], x[h]);
            }
        }
    }
    std::array::from_fn(|s| {
        let rest: f32 = rest[s].iter().zip(x_rest).map(|(bytes, x)| value(*bytes) * x).sum();
        vaddvq_f32(vaddq_f32(sums[s][0], sums[s][1])) + rest
    })
}
