//! The product of a panel and four rows of activations, with an instruction that multiplies
//! matrices (`smmla`). A vector of codes has eight codes of each of two rows, a vector of
//! activations has eight values of each of two rows, and one instruction computes all four sums of
//! eight products.

use std::arch::aarch64::*;

use super::{
    lanes::{add_matrix, load_floats, load_signed},
    panel::{COLUMNS, Panel, ROWS, Shape, Unit, scaled_sums},
};
use crate::input::{Int8SuperBlock, SUM, SUPER_BLOCK};

/// Multiplies two rows of weights by two rows of activations at a time.
pub(super) struct Matrices;

/// Super-blocks of four rows of activations, see [`Unit::Columns`]. Eight values of one row and
/// eight of another are stored side by side.
#[repr(C, align(64))]
pub(super) struct Columns {
    values: [[[i8; 16]; 2]; SUPER_BLOCK / 8],
    /// For every 32 values, the scales of all four rows of activations.
    scales: [[f32; COLUMNS]; SUPER_BLOCK / 32],
    sums: [[f32; COLUMNS]; SUPER_BLOCK / SUM],
}

impl Unit for Matrices {
    type Columns<'x> = Columns;

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn place(
        codes: &mut [[i8; 16]; ROWS * SUPER_BLOCK / 16],
        i: usize,
        half: usize,
        rows: [int8x16_t; 4],
    ) {
        for pair in 0..2 {
            let both = side_by_side(rows[2 * pair], rows[2 * pair + 1]);
            for (k, both) in both.into_iter().enumerate() {
                let to = &mut codes[4 * (2 * i + k) + 2 * half + pair];
                // SAFETY: the reference is to 16 bytes.
                unsafe { vst1q_s8(to.as_mut_ptr(), both) };
            }
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn arrange(x: [&Int8SuperBlock; COLUMNS], shape: Shape) -> Columns {
        let mut columns = Columns {
            values: [[[0; 16]; 2]; SUPER_BLOCK / 8],
            scales: [[0.0; COLUMNS]; SUPER_BLOCK / 32],
            sums: [[0.0; COLUMNS]; SUPER_BLOCK / SUM],
        };
        for i in 0..SUPER_BLOCK / 16 {
            let rows = x.map(|x| load_signed(&x.values.as_chunks().0[i]));
            for pair in 0..2 {
                let both = side_by_side(rows[2 * pair], rows[2 * pair + 1]);
                for (k, both) in both.into_iter().enumerate() {
                    let to = &mut columns.values[2 * i + k][pair];
                    // SAFETY: the reference is to 16 bytes.
                    unsafe { vst1q_s8(to.as_mut_ptr(), both) };
                }
            }
        }
        for t in 0..COLUMNS {
            for i in 0..SUPER_BLOCK / 32 {
                columns.scales[i][t] = x[t].scales[i];
            }
            if shape.minimums {
                let sums = scaled_sums(x[t], shape.step);
                for i in 0..SUPER_BLOCK / shape.step {
                    columns.sums[i][t] = sums[i];
                }
            }
        }
        columns
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn add(panel: &Panel, x: &Columns, shape: Shape, sums: &mut [[f32; ROWS]; COLUMNS]) {
        // Elements: [rows 2r and 2r + 1, activations 2p and 2p + 1], for four r and two p.
        let mut acc = [[vdupq_n_f32(0.0); 2]; ROWS / 2];
        // Slices are consumed from front to back. A load can have a large positive offset from its
        // address register, but only a small negative one. With indices, the compiler would put the
        // end of the range into the register.
        let codes = panel.codes.chunks_exact(shape.step / 8 * ROWS / 2);
        let values = x.values.chunks_exact(shape.step / 8);
        for (i, (codes, values)) in codes.zip(values).enumerate() {
            let mut products = [[vdupq_n_s32(0); 2]; ROWS / 2];
            for (codes, values) in codes.as_chunks::<{ ROWS / 2 }>().0.iter().zip(values) {
                let values = [load_signed(&values[0]), load_signed(&values[1])];
                for r in 0..ROWS / 2 {
                    let codes = load_signed(&codes[r]);
                    for p in 0..2 {
                        // SAFETY: this function has the same requirements.
                        products[r][p] = unsafe { add_matrix(products[r][p], codes, values[p]) };
                    }
                }
            }
            let scales = twice(&panel.scales[i]);
            let x_scales = two_and_two(&x.scales[i * shape.step / 32]);
            for r in 0..ROWS / 2 {
                for p in 0..2 {
                    let product = vcvtq_f32_s32(products[r][p]);
                    let scale =
                        if shape.blocks { vmulq_f32(scales[r], x_scales[p]) } else { scales[r] };
                    acc[r][p] = vfmaq_f32(acc[r][p], product, scale);
                }
            }
            if shape.minimums && shape.blocks {
                let (minimums, x_sums) = (twice(&panel.minimums[i]), two_and_two(&x.sums[i]));
                for r in 0..ROWS / 2 {
                    for p in 0..2 {
                        acc[r][p] = vfmsq_f32(acc[r][p], minimums[r], x_sums[p]);
                    }
                }
            }
        }
        if !shape.blocks {
            let x_scales = two_and_two(&x.scales[0]);
            for r in 0..ROWS / 2 {
                for p in 0..2 {
                    acc[r][p] = vmulq_f32(acc[r][p], x_scales[p]);
                }
            }
            for i in 0..SUPER_BLOCK / shape.step {
                let (minimums, x_sums) = (twice(&panel.minimums[i]), two_and_two(&x.sums[i]));
                for r in 0..ROWS / 2 {
                    for p in 0..2 {
                        acc[r][p] = vfmsq_f32(acc[r][p], minimums[r], x_sums[p]);
                    }
                }
            }
        }
        for p in 0..2 {
            for h in 0..2 {
                // Lanes: row 2r with both activations, then row 2r + 1 with both.
                let (a, b) = (acc[2 * h][p], acc[2 * h + 1][p]);
                for (t, new) in [vuzp1q_f32(a, b), vuzp2q_f32(a, b)].into_iter().enumerate() {
                    let sums = &mut sums[2 * p + t].as_chunks_mut::<4>().0[h];
                    // SAFETY: the reference is to four numbers.
                    unsafe { vst1q_f32(sums.as_mut_ptr(), vaddq_f32(load_floats(sums), new)) };
                }
            }
        }
    }
}

/// Returns the first eight bytes of `a` and of `b`, then the last eight bytes of `a` and of `b`.
#[inline]
#[target_feature(enable = "neon")]
fn side_by_side(a: int8x16_t, b: int8x16_t) -> [int8x16_t; 2] {
    let (a, b) = (vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b));
    [vreinterpretq_s8_s64(vzip1q_s64(a, b)), vreinterpretq_s8_s64(vzip2q_s64(a, b))]
}

/// Returns each number twice, with two numbers in a register.
#[inline]
#[target_feature(enable = "neon")]
fn twice(numbers: &[f32; ROWS]) -> [float32x4_t; ROWS / 2] {
    let [a, b] = [0, 1].map(|h| load_floats(&numbers.as_chunks().0[h]));
    [vzip1q_f32(a, a), vzip2q_f32(a, a), vzip1q_f32(b, b), vzip2q_f32(b, b)]
}

/// Returns the first two numbers twice, then the other two twice.
#[inline]
#[target_feature(enable = "neon")]
fn two_and_two(numbers: &[f32; COLUMNS]) -> [float32x4_t; 2] {
    let four = vreinterpretq_f64_f32(load_floats(numbers));
    [vreinterpretq_f32_f64(vzip1q_f64(four, four)), vreinterpretq_f32_f64(vzip2q_f64(four, four))]
}
