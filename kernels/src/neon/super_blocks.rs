//! A few rows of activations times blocks of 256 weights, whose scales are integers. Integer
//! products are multiplied by their integer scales, and only the sum of a block is converted to a
//! float.

use std::arch::aarch64::*;

use super::lanes::{Multiply, add_scaled, load_signed, load_sums};
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    streams::{STREAMS, each_four},
};

/// A format with blocks of 256 weights. A block has `16 / N` scales, each for `16 N` weights.
/// Weight `i` is `d · scale · code − e · shift`.
pub(super) trait SuperBlocks<const N: usize> {
    /// Type of a block.
    type Block;

    /// Whether the factors `d` and `e` are equal.
    const ONE_FACTOR: bool = false;

    /// Returns a row's blocks.
    fn blocks(row: &[u8]) -> &[Self::Block];

    /// Returns everything in a block except its codes.
    ///
    /// # Safety
    /// The machine must have NEON.
    unsafe fn head(block: &Self::Block) -> Head;

    /// Calls `each` with all codes, 32 at a time: `each(i, codes)` receives codes `32i … 32i + 31`.
    ///
    /// # Safety
    /// The machine must have NEON.
    unsafe fn codes(block: &Self::Block, each: impl FnMut(usize, [int8x16_t; 2]));
}

/// Everything in a block except its codes.
pub(super) struct Head {
    /// `d` and `e` in the first two lanes.
    pub(super) factors: float32x4_t,
    /// Scales. Only the first `16 / N` are used.
    pub(super) scales: [int16x8_t; 2],
    /// Shifts, in the same layout as `scales`.
    pub(super) shifts: [int16x8_t; 2],
}

/// Computes a tile of the output for a few rows of activations. See [`Kernel`](crate::Kernel).
///
/// # Safety
/// The machine must have the instructions of `M`.
#[target_feature(enable = "neon")]
pub(super) unsafe fn few<M: Multiply, F: SuperBlocks<N>, const N: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    each_four(weight, tile, |rows, t| {
        let x = x.int8_row(t);
        let rows = rows.map(|row| &F::blocks(row)[..x.len()]);
        // SAFETY: this function has the same requirements.
        unsafe {
            let mut acc = [vdupq_n_f32(0.0); STREAMS];
            for (b, x) in x.iter().enumerate() {
                // This is not a loop, because the compiler would not unroll it and would keep the
                // sums in memory.
                acc[0] = add::<M, F, N>(acc[0], &rows[0][b], x);
                acc[1] = add::<M, F, N>(acc[1], &rows[1][b], x);
                acc[2] = add::<M, F, N>(acc[2], &rows[2][b], x);
                acc[3] = add::<M, F, N>(acc[3], &rows[3][b], x);
            }
            acc.map(|lanes| vaddvq_f32(lanes))
        }
    });
}

/// Adds the product of a block and a super-block to `acc`. At the end, the sum of the four lanes of
/// `acc` is the dot product.
///
/// # Safety
/// The machine must have the instructions of `M`.
#[inline(always)]
unsafe fn add<M: Multiply, F: SuperBlocks<N>, const N: usize>(
    acc: float32x4_t,
    block: &F::Block,
    x: &Int8SuperBlock,
) -> float32x4_t {
    let values: &[[i8; 16]] = x.values.as_chunks().0;
    // SAFETY: this function has the same requirements.
    unsafe {
        let head = F::head(block);
        let scales = wide(head.scales);
        let zero = vdupq_n_s32(0);
        let mut scaled = zero;
        F::codes(block, |i, codes| {
            let (p, q) = (load_signed(&values[2 * i]), load_signed(&values[2 * i + 1]));
            let first = M::add(zero, codes[0], p);
            if N == 1 {
                let second = M::add(zero, codes[1], q);
                scaled = add_number(scaled, first, scales, 2 * i);
                scaled = add_number(scaled, second, scales, 2 * i + 1);
            } else {
                scaled = add_number(scaled, M::add(first, codes[1], q), scales, i);
            }
        });
        let shift = shift::<N>(head.shifts, x);
        let factors = vmulq_n_f32(head.factors, x.scales[0]);
        if F::ONE_FACTOR {
            return vfmaq_laneq_f32::<0>(acc, vcvtq_f32_s32(vsubq_s32(scaled, shift)), factors);
        }
        let acc = vfmaq_laneq_f32::<0>(acc, vcvtq_f32_s32(scaled), factors);
        vfmsq_laneq_f32::<1>(acc, vcvtq_f32_s32(shift), factors)
    }
}

/// Computes `Σ shifts · sums of the activations`, spread over four lanes.
#[inline(always)]
fn shift<const N: usize>(shifts: [int16x8_t; 2], x: &Int8SuperBlock) -> int32x4_t {
    let sums = x.sums.as_chunks().0;
    let sums = [load_sums(&sums[0]), load_sums(&sums[1])];
    // SAFETY: every processor of this architecture has these instructions.
    unsafe {
        if N == 2 {
            let sums = vpaddq_s16(sums[0], sums[1]);
            let shift = vmull_s16(vget_low_s16(shifts[0]), vget_low_s16(sums));
            return vmlal_high_s16(shift, shifts[0], sums);
        }
        let mut shift = vmull_s16(vget_low_s16(shifts[0]), vget_low_s16(sums[0]));
        shift = vmlal_high_s16(shift, shifts[0], sums[0]);
        shift = vmlal_s16(shift, vget_low_s16(shifts[1]), vget_low_s16(sums[1]));
        vmlal_high_s16(shift, shifts[1], sums[1])
    }
}

/// Widens 16 numbers to 32 bits.
#[inline(always)]
fn wide(numbers: [int16x8_t; 2]) -> [int32x4_t; 4] {
    // SAFETY: as above.
    unsafe {
        [
            vmovl_s16(vget_low_s16(numbers[0])),
            vmovl_high_s16(numbers[0]),
            vmovl_s16(vget_low_s16(numbers[1])),
            vmovl_high_s16(numbers[1]),
        ]
    }
}

/// Computes `sums + products · scales[i]`, with the same scale for all lanes.
#[inline(always)]
fn add_number(sums: int32x4_t, products: int32x4_t, scales: [int32x4_t; 4], i: usize) -> int32x4_t {
    let scales = scales[i / 4];
    match i % 4 {
        0 => add_scaled::<0>(sums, products, scales),
        1 => add_scaled::<1>(sums, products, scales),
        2 => add_scaled::<2>(sums, products, scales),
        _ => add_scaled::<3>(sums, products, scales),
    }
}
