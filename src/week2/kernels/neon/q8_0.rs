//! Provided. Against the integer rung: 16 products at once; both factors have a sign, as the
//! instructions want them.

use tiny_llm_kernels::neon::{
    Format,
    lanes::{Multiply, dot_32, less, load},
};

use crate::week2::{blocks::f16_at, input::Int8Group};

pub(super) struct Q8_0;

impl Format for Q8_0 {
    unsafe fn dot<M: Multiply>(row: &[u8], x: &[Int8Group]) -> f32 {
        let mut sum = 0.0;
        for (blocks, x) in row.chunks(8 * 34).zip(x) {
            for ((block, p), scale) in
                blocks.chunks_exact(34).zip(x.values.as_chunks().0.chunks_exact(2)).zip(x.scales)
            {
                let bytes: &[[u8; 16]] = block[2..].as_chunks().0;
                let codes = [less(load(&bytes[0]), 0), less(load(&bytes[1]), 0)];
                // SAFETY: as for this function.
                let qp = unsafe { dot_32::<M>(codes, p) };
                sum += scale * f16_at(block, 0) * qp as f32;
            }
        }
        sum
    }
}
