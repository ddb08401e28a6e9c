//! The matrix unit of server processors (AMX): eight tiles of 16 rows of 64 bytes, and one
//! instruction that multiplies 16 rows of weights with 16 rows of activations.

#![allow(unsafe_code, reason = "instructions that the compiler has no functions for")]

pub(crate) mod activations;
mod blocks;
mod fill;
mod many;
#[cfg(test)]
mod model;
mod panel;
mod permission;
mod sixteen;
mod tiles;
mod unit;

use tiny_llm_formats::gguf::TensorType;

pub use self::permission::{Refusal, state};
pub(crate) use self::{fill::{store_block, store_scales}, panel::Panel};
use self::{
    panel::Source,
    sixteen::Vector,
    tiles::Tiles,
    unit::SIDE,
};
use crate::{
    Kernel, avx512,
    format::{Q4_0, Q8_0},
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    prefetch::prefetch,
};

/// Rows of activations from which on the unit is faster than `vpdpbusd`.
pub(crate) const FROM: usize = 2;

/// The kernel for a type and a number of rows of activations.
pub(crate) fn kernel(tensor_type: TensorType, rows: usize) -> Kernel {
    if rows < FROM {
        return avx512::kernel(tensor_type, rows);
    }
    match tensor_type {
        TensorType::Q4_0 => q4_0,
        TensorType::Q8_0 => q8_0,
        _ => avx512::kernel(tensor_type, rows),
    }
}

/// Rows are taken out of their blocks one by one, with 512-bit instructions.
struct Unpacked {
    row: unsafe fn(&mut Panel, usize, &[u8]),
}

impl Source for Unpacked {
    #[inline(always)]
    fn fill(&self, panel: &mut Panel, rows: [&[u8]; SIDE], ahead: usize) {
        for (i, row) in rows.into_iter().enumerate() {
            prefetch(row, ahead);
            // SAFETY: kernels of this rung are called where its instructions were found.
            unsafe { (self.row)(panel, i, row) };
        }
    }
}

macro_rules! kernels {
    ($($name:ident: $format:ident, |$panel:ident, $i:ident, $bytes:ident| $fill:expr;)*) => {$(
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")]
        fn $name(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
            fn row($panel: &mut Panel, $i: usize, $bytes: &[u8]) {
                $fill
            }
            if x.tiles.is_empty() {
                // SAFETY: this rung's instructions are more than that one's.
                return unsafe {
                    avx512::kernel(weight.tensor_type, x.rows)(weight, x, tile)
                };
            }
            let mut unit = Tiles::new(&blocks::SHAPES);
            let source = Unpacked { row };
            many::multiply::<$format, Vector, _>(&mut unit, &source, weight, x, tile);
        }
    )*};
}

kernels! {
    q4_0: Q4_0, |panel, i, bytes| fill::eight::<Q4_0>(panel, i, avx512::q4_0::unpack(bytes));
    q8_0: Q8_0, |panel, i, bytes| avx512::q8_0::fill_row(panel, i, bytes);
}
