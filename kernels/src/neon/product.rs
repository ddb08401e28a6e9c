//! The product of a panel and four rows of activations, with instructions that multiply vectors. A
//! vector of codes has a 32-bit lane for each of four rows of weights, with four codes of that row.
//! All lanes are multiplied by the same four activations.

use std::{arch::aarch64::*, marker::PhantomData};

use super::{
    lanes::{Multiply, load_floats, load_signed},
    panel::{COLUMNS, Panel, ROWS, Shape, Unit, scaled_sums},
};
use crate::input::{Int8SuperBlock, SUM, SUPER_BLOCK};

/// A [`Unit`] that multiplies panels with [`Multiply`].
pub(super) struct Vectors<M>(PhantomData<M>);

/// Super-blocks of four rows of activations, see [`Unit::Columns`].
pub(super) struct Columns<'x> {
    super_blocks: [&'x Int8SuperBlock; COLUMNS],
    sums: [[f32; SUPER_BLOCK / SUM]; COLUMNS],
}

impl<M: Multiply> Unit for Vectors<M> {
    type Columns<'x> = Columns<'x>;

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn place(
        codes: &mut [[i8; 16]; ROWS * SUPER_BLOCK / 16],
        i: usize,
        half: usize,
        rows: [int8x16_t; 4],
    ) {
        // A lane of 32 bits holds four codes of a row. These lanes are transposed, four by four.
        let [a, b, c, d] = rows.map(|row| vreinterpretq_s32_s8(row));
        let (ab, cd) = ([vzip1q_s32(a, b), vzip2q_s32(a, b)], [vzip1q_s32(c, d), vzip2q_s32(c, d)]);
        for k in 0..4 {
            let (ab, cd) = (vreinterpretq_s64_s32(ab[k / 2]), vreinterpretq_s64_s32(cd[k / 2]));
            let four = if k % 2 == 0 { vzip1q_s64(ab, cd) } else { vzip2q_s64(ab, cd) };
            let to = &mut codes[2 * (4 * i + k) + half];
            // SAFETY: the reference is to 16 bytes.
            unsafe { vst1q_s8(to.as_mut_ptr(), vreinterpretq_s8_s64(four)) };
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn arrange<'x>(
        super_blocks: [&'x Int8SuperBlock; COLUMNS],
        shape: Shape,
    ) -> Columns<'x> {
        let sums = if shape.minimums {
            super_blocks.map(|x| scaled_sums(x, shape.step))
        } else {
            [[0.0; SUPER_BLOCK / SUM]; COLUMNS]
        };
        Columns { super_blocks, sums }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn add(panel: &Panel, x: &Columns<'_>, shape: Shape, sums: &mut [[f32; ROWS]; COLUMNS]) {
        let load = |sums: &[f32; ROWS]| [0, 1].map(|h| load_floats(&sums.as_chunks().0[h]));
        let mut acc = [[vdupq_n_f32(0.0); 2]; COLUMNS];
        for i in 0..SUPER_BLOCK / shape.step {
            let mut products = [[vdupq_n_s32(0); 2]; COLUMNS];
            for sixteen in i * shape.step / 16..(i + 1) * shape.step / 16 {
                let values: [int8x16_t; COLUMNS] = std::array::from_fn(|t| {
                    load_signed(&x.super_blocks[t].values.as_chunks().0[sixteen])
                });
                // SAFETY: this function has the same requirements.
                unsafe {
                    step::<M, 0>(panel, sixteen, values, &mut products);
                    step::<M, 1>(panel, sixteen, values, &mut products);
                    step::<M, 2>(panel, sixteen, values, &mut products);
                    step::<M, 3>(panel, sixteen, values, &mut products);
                }
            }
            let (scales, minimums) = (load(&panel.scales[i]), load(&panel.minimums[i]));
            for t in 0..COLUMNS {
                for h in 0..2 {
                    let product = vcvtq_f32_s32(products[t][h]);
                    let scale = if shape.blocks {
                        vmulq_n_f32(scales[h], x.super_blocks[t].scales[i])
                    } else {
                        scales[h]
                    };
                    acc[t][h] = vfmaq_f32(acc[t][h], product, scale);
                    if shape.minimums && shape.blocks {
                        acc[t][h] = vfmsq_n_f32(acc[t][h], minimums[h], x.sums[t][i]);
                    }
                }
            }
        }
        for t in 0..COLUMNS {
            let mut total = load(&sums[t]);
            for h in 0..2 {
                total[h] = if shape.blocks {
                    vaddq_f32(total[h], acc[t][h])
                } else {
                    vfmaq_n_f32(total[h], acc[t][h], x.super_blocks[t].scales[0])
                };
            }
            if shape.minimums && !shape.blocks {
                for i in 0..SUPER_BLOCK / shape.step {
                    let minimums = load(&panel.minimums[i]);
                    for h in 0..2 {
                        total[h] = vfmsq_n_f32(total[h], minimums[h], x.sums[t][i]);
                    }
                }
            }
            for h in 0..2 {
                // SAFETY: the reference is to four numbers.
                unsafe { vst1q_f32(sums[t].as_chunks_mut::<4>().0[h].as_mut_ptr(), total[h]) };
            }
        }
    }
}

/// Multiplies four codes of each row of weights by four activations of each row of activations, and
/// adds the results to `products`. Of the columns `16 · sixteen` to `16 · sixteen + 15`, it uses
/// group `LANE` of four.
///
/// # Safety
/// The machine must have the instructions of `M`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn step<M: Multiply, const LANE: i32>(
    panel: &Panel,
    sixteen: usize,
    values: [int8x16_t; COLUMNS],
    products: &mut [[int32x4_t; 2]; COLUMNS],
) {
    let k = 4 * sixteen + LANE as usize;
    let codes = [load_signed(&panel.codes[2 * k]), load_signed(&panel.codes[2 * k + 1])];
    for t in 0..COLUMNS {
        for h in 0..2 {
            // SAFETY: this function has the same requirements.
            products[t][h] = unsafe { M::add_four::<LANE>(products[t][h], codes[h], values[t]) };
        }
    }
}
