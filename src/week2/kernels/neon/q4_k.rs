//! Provided. Against the integer rung: 32 codes of a sub-block at once; scales and minimums stay
//! whole numbers.

use tiny_llm_kernels::neon::{
    Format,
    lanes::{Multiply, dot_32, less, nibbles},
};

use crate::week2::{
    blocks::{f16_at, q4_k::scales_and_minimums},
    input::Int8Group,
};

pub(super) struct Q4K;

impl Format for Q4K {
    unsafe fn dot<M: Multiply>(row: &[u8], x: &[Int8Group]) -> f32 {
        let mut sum = 0.0;
        for (block, x) in row.chunks_exact(144).zip(x) {
            let (scales, mins) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
            let bytes: &[[u8; 16]] = block[16..].as_chunks().0;
            let p: &[[i8; 16]] = x.values.as_chunks().0;
            let (mut scaled, mut shift) = (0, 0);
            for j in 0..4 {
                let (first, second) = (nibbles(&bytes[2 * j]), nibbles(&bytes[2 * j + 1]));
                for half in 0..2 {
                    let s = 2 * j + half;
                    // SAFETY: as for this function.
                    let qp = unsafe {
                        dot_32::<M>([less(first[half], 0), less(second[half], 0)], &p[2 * s..])
                    };
                    scaled += i32::from(scales[s]) * qp;
                    shift += i32::from(mins[s])
                        * (i32::from(x.sums[2 * s]) + i32::from(x.sums[2 * s + 1]));
                }
            }
            sum +=
                x.scales[0] * (f16_at(block, 0) * scaled as f32 - f16_at(block, 2) * shift as f32);
        }
        sum
    }
}
