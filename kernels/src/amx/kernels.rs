//! The table of AMX kernels: for each format, how weights are unpacked and which plan multiplies
//! them.

use tiny_llm_formats::gguf::TensorType;

use super::{
    FROM,
    blocks::Blocks,
    fill::{Ordered, bytes, eight, super_block},
    many,
    panel::{Panel, Source},
    sixteen::Vector,
    super_blocks::SuperBlocks,
    tiles::Tiles,
    unit::SIDE,
};
use crate::{
    Kernel,
    avx512::{self, lanes::part, order::Order},
    format::{MXFP4, Q2_K, Q3_K, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0},
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    prefetch::prefetch,
};

/// Returns this rung's kernel for a type and a number of rows of activations.
pub(crate) fn kernel(tensor_type: TensorType, rows: usize) -> Kernel {
    if rows < FROM {
        return avx512::kernel(tensor_type, rows);
    }
    match tensor_type {
        TensorType::F32 | TensorType::F16 | TensorType::BF16 => avx512::kernel(tensor_type, rows),
        TensorType::Q4_0 => q4_0,
        TensorType::Q4_1 => q4_1,
        TensorType::Q5_0 => q5_0,
        TensorType::Q5_1 => q5_1,
        TensorType::Q8_0 => q8_0,
        TensorType::Q2_K => q2_k,
        TensorType::Q3_K => q3_k,
        TensorType::Q4_K => q4_k,
        TensorType::Q5_K => q5_k,
        TensorType::Q6_K => q6_k,
        TensorType::MXFP4 => mxfp4,
    }
}

/// A [`Source`] that unpacks rows one by one, with 512-bit instructions.
struct Unpacked<R>(R);

impl<R: Fn(&mut Panel, usize, &[u8])> Source for Unpacked<R> {
    #[inline(always)]
    fn fill(&self, panel: &mut Panel, rows: [&[u8]; SIDE], ahead: usize) {
        for (i, row) in rows.into_iter().enumerate() {
            prefetch(row, ahead);
            self.0(panel, i, row);
        }
    }
}

macro_rules! kernels {
    ($($name:ident: $plan:ty, |$panel:ident, $i:ident, $bytes:ident| $fill:expr;)*) => {$(
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")]
        fn $name(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
            if !x.has_tiles {
                // The integers were quantized by another rung (set of kernels), so they aren't in
                // the layout of tiles. SAFETY: the instructions of this rung include those of
                // AVX-512.
                return unsafe { avx512::kernel(weight.tensor_type, x.rows)(weight, x, tile) };
            }
            let source = Unpacked(|$panel: &mut Panel, $i: usize, $bytes: &[u8]| $fill);
            many::multiply::<$plan, Vector, _>(&mut Tiles::new(), &source, weight, x, tile);
        }
    )*};
}

impl Ordered for Q2_K {
    const ORDER: &'static Order = &avx512::q2_k::ORDER;
}
impl Ordered for Q3_K {
    const ORDER: &'static Order = &avx512::q2_k::ORDER;
}
impl Ordered for Q4_K {
    const ORDER: &'static Order = &avx512::sub_blocks::ORDER;
}
impl Ordered for Q5_K {
    const ORDER: &'static Order = &avx512::sub_blocks::ORDER;
}
impl Ordered for Q6_K {
    const ORDER: &'static Order = &avx512::q6_k::ORDER;
}

kernels! {
    q4_0: Blocks<Q4_0>, |to, i, row| eight::<Q4_0>(to, i, avx512::q4_0::unpack(row));
    q4_1: Blocks<Q4_1>, |to, i, row| eight::<Q4_1>(to, i, avx512::q4_1::unpack(row));
    q5_0: Blocks<Q5_0>, |to, i, row| eight::<Q5_0>(to, i, avx512::q5_0::unpack(row));
    q5_1: Blocks<Q5_1>, |to, i, row| eight::<Q5_1>(to, i, avx512::q5_1::unpack(row));
    mxfp4: Blocks<MXFP4>, |to, i, row| eight::<MXFP4>(to, i, avx512::mxfp4::unpack(row));
    q8_0: Blocks<Q8_0>, |to, i, row| bytes::<{ TensorType::Q8_0.block_bytes() }>(to, i, row);
    q2_k: SuperBlocks<Q2_K>, |to, i, row| {
        super_block::<Q2_K>(to, i, avx512::q2_k::unpack(part(row, 0)));
    };
    q3_k: SuperBlocks<Q3_K>, |to, i, row| {
        super_block::<Q3_K>(to, i, avx512::q3_k::unpack(part(row, 0)));
    };
    q4_k: SuperBlocks<Q4_K>, |to, i, row| {
        super_block::<Q4_K>(to, i, avx512::q4_k::unpack(part(row, 0)));
    };
    q5_k: SuperBlocks<Q5_K>, |to, i, row| {
        super_block::<Q5_K>(to, i, avx512::q5_k::unpack(part(row, 0)));
    };
    q6_k: SuperBlocks<Q6_K>, |to, i, row| {
        super_block::<Q6_K>(to, i, avx512::q6_k::unpack(part(row, 0)));
    };
}
