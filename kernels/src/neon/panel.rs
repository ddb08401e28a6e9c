//! Many rows of activations: arithmetic is the limit. So codes are unpacked once for many rows of
//! activations. The codes of eight rows of weights are stored side by side, in the order that the
//! multiplying instruction needs.

use std::arch::aarch64::*;

use super::{
    blocks::{Blocks, LONGEST},
    lanes::{four_halves, load_floats, load_signed, load_sums},
    super_blocks::SuperBlocks,
};
use crate::{
    input::{Input, Int8SuperBlock, SUM, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
};

/// Number of rows of weights in a panel.
pub(super) const ROWS: usize = 8;
/// Number of rows of activations that are multiplied by a panel at once.
pub(super) const COLUMNS: usize = 4;
/// Maximum number of rows of activations that are multiplied each time a panel is unpacked.
/// Likewise, activations are arranged once for [`PANELS`] panels.
const CHUNK: usize = 128;
const PANELS: usize = 4;

/// An unpacked super-block of [`ROWS`] rows of weights: a weight is `scale · code − minimum`.
#[repr(C, align(64))]
pub(super) struct Panel {
    /// Codes, in an order that depends on the unit.
    pub(super) codes: [[i8; 16]; ROWS * SUPER_BLOCK / 16],
    /// The scales of all rows, one for every 16 weights. If 32 weights share a scale, only the
    /// first half is used.
    pub(super) scales: [[f32; ROWS]; SUPER_BLOCK / SUM],
    /// Minimums, in the same layout as `scales`.
    pub(super) minimums: [[f32; ROWS]; SUPER_BLOCK / SUM],
}

/// An unpacked super-block of one row of weights.
#[repr(C, align(64))]
pub(super) struct Row {
    codes: [[i8; 16]; SUPER_BLOCK / 16],
    scales: [f32; SUPER_BLOCK / SUM],
    minimums: [f32; SUPER_BLOCK / SUM],
}

/// The layout of a format's scales.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Number of weights per scale: 16 or 32.
    pub(super) step: usize,
    /// Whether the format has minimums.
    pub(super) minimums: bool,
    /// Whether activations have one scale per 32 values instead of one per super-block.
    pub(super) blocks: bool,
}

/// A format that can be unpacked into panels.
pub(super) trait Unpack {
    const SHAPE: Shape;
    /// Size in bytes of a super-block of 256 weights.
    const SUPER_BLOCK_BYTES: usize;
    /// Unpacks `super_block` into `row`.
    ///
    /// # Safety
    /// The machine must have NEON.
    unsafe fn unpack(super_block: &[u8], row: &mut Row);
}

/// A method of multiplying panels.
pub(super) trait Unit {
    /// Super-blocks of [`COLUMNS`] rows of activations, in the unit's order.
    type Columns<'x>;

    /// Stores codes `16i … 16i + 15` of four rows in the unit's order. The four rows are the first
    /// half (`half` is 0) or the second half (1) of a panel.
    ///
    /// # Safety
    /// The machine must have NEON.
    unsafe fn place(
        codes: &mut [[i8; 16]; ROWS * SUPER_BLOCK / 16],
        i: usize,
        half: usize,
        rows: [int8x16_t; 4],
    );

    /// Arranges super-blocks of activations in the unit's order.
    ///
    /// # Safety
    /// The machine must have NEON.
    unsafe fn arrange<'x>(x: [&'x Int8SuperBlock; COLUMNS], shape: Shape) -> Self::Columns<'x>;

    /// Adds the products of a panel and activations to `sums [COLUMNS, ROWS]`.
    ///
    /// # Safety
    /// The machine must have the unit's instructions.
    unsafe fn add(
        panel: &Panel,
        x: &Self::Columns<'_>,
        shape: Shape,
        sums: &mut [[f32; ROWS]; COLUMNS],
    );
}

/// Computes a tile of the output for many rows of activations. See [`Kernel`](crate::Kernel).
///
/// # Safety
/// The machine must have the instructions of `U`.
#[target_feature(enable = "neon")]
pub(super) unsafe fn many<U: Unit, F: Unpack>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    let (cols, tokens) = (tile.cols(), tile.rows());
    let mut panel = Panel {
        codes: [[0; 16]; ROWS * SUPER_BLOCK / 16],
        scales: [[0.0; ROWS]; SUPER_BLOCK / SUM],
        minimums: [[0.0; ROWS]; SUPER_BLOCK / SUM],
    };
    let mut rows = [const { Row::EMPTY }; ROWS / 2];
    let mut sums = [[[[0.0; ROWS]; COLUMNS]; CHUNK / COLUMNS]; PANELS];
    for first in cols.clone().step_by(ROWS * PANELS) {
        let last = cols.end.min(first + ROWS * PANELS);
        for start in tokens.clone().step_by(CHUNK) {
            let end = tokens.end.min(start + CHUNK);
            sums.as_flattened_mut().fill([[0.0; ROWS]; COLUMNS]);
            for g in 0..x.super_blocks() {
                // Here and below, rows past the end repeat the last row. Their results are not
                // written.
                let super_block = |t: usize| &x.int8_row(t.min(end - 1))[g];
                let mut columns: [Option<U::Columns<'_>>; CHUNK / COLUMNS] =
                    [const { None }; CHUNK / COLUMNS];
                for (t, columns) in (start..end).step_by(COLUMNS).zip(&mut columns) {
                    let four = std::array::from_fn(|i| super_block(t + i));
                    // SAFETY: this function has the same requirements.
                    *columns = Some(unsafe { U::arrange(four, F::SHAPE) });
                }
                for (p, sums) in sums.iter_mut().enumerate() {
                    let from = first + p * ROWS;
                    if from >= last {
                        break;
                    }
                    let row = |r: usize| {
                        let bytes = weight.row((from + r).min(last - 1));
                        &bytes[g * F::SUPER_BLOCK_BYTES
                            ..bytes.len().min((g + 1) * F::SUPER_BLOCK_BYTES)]
                    };
                    fill::<U, F>(&mut panel, &mut rows, std::array::from_fn(row));
                    for (columns, sums) in columns.iter().flatten().zip(sums) {
                        // SAFETY: this function has the same requirements.
                        unsafe { U::add(&panel, columns, F::SHAPE, sums) };
                    }
                }
            }
            for (p, sums) in sums.iter().enumerate() {
                let from = first + p * ROWS;
                let n = ROWS.min(last.saturating_sub(from));
                for (t, sums) in (start..end).zip(sums.as_flattened()).filter(|_| n > 0) {
                    tile.row_mut(t)[from - cols.start..][..n].copy_from_slice(&sums[..n]);
                }
            }
        }
    }
}

impl Row {
    const EMPTY: Self = Self {
        codes: [[0; 16]; SUPER_BLOCK / 16],
        scales: [0.0; SUPER_BLOCK / SUM],
        minimums: [0.0; SUPER_BLOCK / SUM],
    };
}

/// Unpacks eight rows into a panel, four at a time. `rows` is scratch memory.
#[inline]
#[target_feature(enable = "neon")]
fn fill<U: Unit, F: Unpack>(
    panel: &mut Panel,
    rows: &mut [Row; ROWS / 2],
    super_blocks: [&[u8]; ROWS],
) {
    for half in 0..2 {
        for r in 0..ROWS / 2 {
            // SAFETY: the machine has NEON.
            unsafe { F::unpack(super_blocks[4 * half + r], &mut rows[r]) };
        }
        for i in 0..SUPER_BLOCK / 16 {
            let codes = std::array::from_fn(|r| load_signed(&rows[r].codes[i]));
            // SAFETY: the machine has NEON.
            unsafe { U::place(&mut panel.codes, i, half, codes) };
        }
        for i in 0..SUPER_BLOCK / F::SHAPE.step {
            for r in 0..4 {
                panel.scales[i][4 * half + r] = rows[r].scales[i];
                if F::SHAPE.minimums {
                    panel.minimums[i][4 * half + r] = rows[r].minimums[i];
                }
            }
        }
    }
}

/// Implements [`Unpack`] for a format with blocks of 32 weights.
pub(super) struct OfBlocks<F>(std::marker::PhantomData<F>);

impl<F: Blocks> Unpack for OfBlocks<F> {
    const SHAPE: Shape = Shape { step: 32, minimums: F::MINIMUM, blocks: true };
    const SUPER_BLOCK_BYTES: usize = 8 * F::BYTES;

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn unpack(super_block: &[u8], row: &mut Row) {
        let mut filled = [0; LONGEST];
        let super_block = if super_block.len() < Self::SUPER_BLOCK_BYTES {
            filled[..super_block.len()].copy_from_slice(super_block);
            &filled[..]
        } else {
            super_block
        };
        for half in 0..2 {
            // SAFETY: `super_block` has the bytes of eight blocks.
            unsafe {
                let four = super_block.as_ptr().add(half * 4 * F::BYTES);
                let codes = F::codes(four, &mut four.add(2));
                // Codes with an offset have at most five bits, so the sum fits.
                let offset = vdupq_n_s8(F::OFFSET as i8);
                for (to, codes) in row.codes[8 * half..].iter_mut().zip(codes) {
                    vst1q_s8(to.as_mut_ptr(), vaddq_s8(codes, offset));
                }
                let (scales, _) = F::scales(four);
                vst1q_f32(row.scales[4 * half..].as_mut_ptr(), scales);
                if F::MINIMUM {
                    let minimums = vnegq_f32(four_halves(four.add(2), F::BYTES).0);
                    vst1q_f32(row.minimums[4 * half..].as_mut_ptr(), minimums);
                }
            }
        }
    }
}

/// Implements [`Unpack`] for a format with blocks of 256 weights.
pub(super) struct OfSuperBlocks<F>(std::marker::PhantomData<F>);

/// Implements [`Unpack`] for a format of [`SuperBlocks`]. This is a macro, because `N` is a
/// parameter of `SuperBlocks` but not of `Unpack`.
macro_rules! of_super_blocks {
    ($($n:literal: $format:ty),*) => {$(
        impl Unpack for OfSuperBlocks<$format> {
            const SHAPE: Shape = Shape { step: 16 * $n, minimums: true, blocks: false };
            const SUPER_BLOCK_BYTES: usize = size_of::<<$format as SuperBlocks<$n>>::Block>();

            #[inline]
            #[target_feature(enable = "neon")]
            unsafe fn unpack(super_block: &[u8], row: &mut Row) {
                unpack_super_block::<$format, $n>(super_block, row);
            }
        }
    )*};
}

of_super_blocks!(
    1: super::q2_k::Q2K,
    1: super::q3_k::Q3K,
    2: super::q4_k::Q4K,
    2: super::q5_k::Q5K,
    1: super::q6_k::Q6K
);

#[inline]
#[target_feature(enable = "neon")]
fn unpack_super_block<F: SuperBlocks<N>, const N: usize>(super_block: &[u8], row: &mut Row) {
    let block = &F::blocks(super_block)[0];
    let store = |i: usize, codes: [int8x16_t; 2]| {
        for h in 0..2 {
            // SAFETY: the reference is to 16 bytes.
            unsafe { vst1q_s8(row.codes[2 * i + h].as_mut_ptr(), codes[h]) };
        }
    };
    // SAFETY: the machine has NEON.
    let head = unsafe {
        F::codes(block, store);
        F::head(block)
    };
    let [d, e] = if F::ONE_FACTOR {
        [vdupq_laneq_f32::<0>(head.factors); 2]
    } else {
        [vdupq_laneq_f32::<0>(head.factors), vdupq_laneq_f32::<1>(head.factors)]
    };
    let times = |numbers: int16x8_t, factor: float32x4_t, out: &mut [f32]| {
        let low = vcvtq_f32_s32(vmovl_s16(vget_low_s16(numbers)));
        let high = vcvtq_f32_s32(vmovl_high_s16(numbers));
        let out = &mut out[..8];
        // SAFETY: `out` has eight numbers.
        unsafe {
            vst1q_f32(out.as_mut_ptr(), vmulq_f32(low, factor));
            vst1q_f32(out[4..].as_mut_ptr(), vmulq_f32(high, factor));
        }
    };
    for h in 0..2 / N {
        times(head.scales[h], d, &mut row.scales[8 * h..]);
        times(head.shifts[h], e, &mut row.minimums[8 * h..]);
    }
}

/// Returns the sum of every `step` activations, times their scale. Minimums are multiplied by these
/// sums.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn scaled_sums(x: &Int8SuperBlock, step: usize) -> [f32; SUPER_BLOCK / SUM] {
    let mut out = [0.0; SUPER_BLOCK / SUM];
    for h in 0..2 {
        let sums: int16x8_t = load_sums(&x.sums.as_chunks().0[h]);
        // SAFETY: `out` has 16 numbers, and `h` is 0 or 1. Four or eight numbers are written,
        // starting at number 4h or 8h.
        unsafe {
            if step == 32 {
                let scales = load_floats(&x.scales.as_chunks().0[h]);
                let both = vcvtq_f32_s32(vpaddlq_s16(sums));
                vst1q_f32(out[4 * h..].as_mut_ptr(), vmulq_f32(both, scales));
            } else {
                let low = vcvtq_f32_s32(vmovl_s16(vget_low_s16(sums)));
                let high = vcvtq_f32_s32(vmovl_high_s16(sums));
                vst1q_f32(out[8 * h..].as_mut_ptr(), vmulq_n_f32(low, x.scales[0]));
                vst1q_f32(out[8 * h + 4..].as_mut_ptr(), vmulq_n_f32(high, x.scales[0]));
            }
        }
    }
    out
}
