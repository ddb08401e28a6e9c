//! A few rows of activations times blocks of 32 weights. The products should keep up with the
//! memory bandwidth, so every instruction per weight counts.
//!
//! Eight rows of weights are read side by side, each as its own stream, and share the activations'
//! registers. Four blocks of each row are multiplied at a time. The products of each block are
//! added in four lanes. Three pairwise additions combine the lanes of four blocks into one
//! register, with one sum per block, which is then converted and scaled.

use std::arch::aarch64::*;

use super::lanes::{Multiply, add_products, four_halves, load_floats, load_signed, load_sums};
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
};

/// A format with blocks of 32 weights, each `d · (code + OFFSET)`, plus `m` if `MINIMUM`.
pub(super) trait Blocks {
    /// Size of a block in bytes. A block begins with `d`, then `m` if the format has it.
    const BYTES: usize;
    /// The amount to add to the codes that [`Blocks::codes`] returns.
    const OFFSET: f32 = 0.0;
    /// Whether a block has a minimum `m`.
    const MINIMUM: bool = false;

    /// Returns the codes of four blocks, the first at `four`. `own` is an address that only this
    /// function uses and moves. At the beginning of a row, it is two bytes after `four`.
    ///
    /// # Safety
    /// There must be four blocks at `four`.
    unsafe fn codes(four: *const u8, own: &mut *const u8) -> [int8x16_t; 8];

    /// Returns the scales of four blocks, the first at `four`, and the address of the block after
    /// them.
    ///
    /// # Safety
    /// There must be four blocks at `four`.
    #[inline(always)]
    unsafe fn scales(four: *const u8) -> (float32x4_t, *const u8) {
        // SAFETY: there are four blocks, as this function requires, and each begins with its scale.
        unsafe { four_halves(four, Self::BYTES) }
    }
}

/// Size in bytes of eight blocks of the longest format.
pub(super) const LONGEST: usize = 8 * 34;

/// Computes a tile of the output for a few rows of activations. See [`Kernel`](crate::Kernel).
///
/// # Safety
/// The machine must have the instructions of `M`.
#[target_feature(enable = "neon")]
pub(super) unsafe fn few<M: Multiply, F: Blocks>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    // The activations are loaded once for all rows of weights that share them, so more rows are
    // better as long as their sums fit into registers.
    if tile.cols().len() < 8 {
        // SAFETY: this function has the same requirements.
        unsafe { each::<M, F, 4>(weight, x, tile) }
    } else {
        // SAFETY: this function has the same requirements.
        unsafe { each::<M, F, 8>(weight, x, tile) }
    }
}

/// Does the same as [`each_four`](crate::streams::each_four) for `N` rows, but checks their bounds
/// only once. A check per row would take 2 % of the instructions for rows of 2048 weights.
///
/// # Safety
/// The machine must have the instructions of `M`.
#[inline(always)]
unsafe fn each<M: Multiply, F: Blocks, const N: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    let (first, count) = (tile.cols().start, tile.cols().len());
    let Some(last) = count.checked_sub(1) else { return };
    let row_bytes = weight.row_bytes();
    let bytes = &weight.bytes()[first * row_bytes..][..count * row_bytes];
    let per_stream = count.div_ceil(N);
    for i in 0..per_stream {
        let places: [usize; N] = std::array::from_fn(|s| (s * per_stream + i).min(last));
        // SAFETY: `bytes` has `count` rows, and each of `places` is at most `last`.
        let rows = places.map(|row| unsafe {
            let at = bytes.as_ptr().add(row * row_bytes);
            std::slice::from_raw_parts(at, row_bytes)
        });
        for t in tile.rows() {
            // SAFETY: this function has the same requirements.
            let sums = unsafe { dot::<M, F, N>(rows, x.int8_row(t)) };
            let out = &mut tile.row_mut(t)[..count];
            for (row, sum) in places.into_iter().zip(sums) {
                // SAFETY: `out` has `count` elements.
                unsafe { *out.get_unchecked_mut(row) = sum };
            }
        }
    }
}

/// Returns the dot products of `N` rows of weights and one row of activations.
///
/// # Safety
/// The machine must have the instructions of `M`.
#[inline(always)]
unsafe fn dot<M: Multiply, F: Blocks, const N: usize>(
    rows: [&[u8]; N],
    x: &[Int8SuperBlock],
) -> [f32; N] {
    const { assert!(8 * F::BYTES <= LONGEST) };
    let super_blocks = rows[0].len() / (8 * F::BYTES);
    // SAFETY: this function has the same requirements; a super-block has eight blocks of each row.
    unsafe {
        let mut products = Products::at(rows.map(<[u8]>::as_ptr));
        for x in &x[..super_blocks] {
            products.add::<M, F>(x, 0);
            products.add::<M, F>(x, 1);
        }
        if let Some(x) = x.get(super_blocks) {
            // Fewer than eight blocks are left. They are padded with blocks of zeros.
            let mut filled = [[0; LONGEST]; N];
            for s in 0..N {
                let rest = &rows[s][super_blocks * 8 * F::BYTES..];
                filled[s][..rest.len()].copy_from_slice(rest);
            }
            let mut last = Products::at(filled.each_ref().map(|row| row.as_ptr()));
            last.acc = products.acc;
            last.add::<M, F>(x, 0);
            last.add::<M, F>(x, 1);
            products.acc = last.acc;
        }
        products.acc.map(|lanes| vaddvq_f32(lanes))
    }
}

struct Products<const N: usize> {
    /// Addresses of the next block of each row.
    at: [*const u8; N],
    /// For each row, the address `own` of [`Blocks::codes`].
    own: [*const u8; N],
    acc: [float32x4_t; N],
    /// The running sums of [`add_products`].
    sums: [int32x4_t; 4],
    before: int32x4_t,
}

/// Half a super-block of activations, for four blocks of weights.
struct Half {
    values: [int8x16_t; 8],
    scales: float32x4_t,
    /// The sum of each block's activations, as integers, times [`Blocks::OFFSET`].
    offsets: float32x4_t,
    /// The sum of each block's activations, times their scale. Minimums of weights are multiplied
    /// by this product.
    minimums: float32x4_t,
}

impl<const N: usize> Products<N> {
    #[inline(always)]
    fn at(at: [*const u8; N]) -> Self {
        // SAFETY: every processor of this architecture has the instructions.
        let (zero, none) = unsafe { (vdupq_n_f32(0.0), vdupq_n_s32(0)) };
        let own = at.map(|at| at.wrapping_add(2));
        Self { at, own, acc: [zero; N], sums: [none; 4], before: none }
    }

    /// Multiplies the next four blocks of each row by the first half (`half` is 0) or the second
    /// half (1) of `x`, and adds the products to the row's sums.
    ///
    /// # Safety
    /// The machine must have the instructions of `M`. There must be four more blocks of each row.
    #[inline(always)]
    unsafe fn add<M: Multiply, F: Blocks>(&mut self, x: &Int8SuperBlock, half: usize) {
        let values = &x.values.as_chunks().0[8 * half..][..8];
        let values: [int8x16_t; 8] = std::array::from_fn(|i| load_signed(&values[i]));
        let scales = load_floats(&x.scales.as_chunks().0[half]);
        // SAFETY: this function has the same requirements.
        unsafe {
            let totals = vcvtq_f32_s32(vpaddlq_s16(load_sums(&x.sums.as_chunks().0[half])));
            let offsets = vmulq_n_f32(totals, F::OFFSET);
            let x = Half { values, scales, offsets, minimums: vmulq_f32(totals, scales) };
            // This is not a loop, because the compiler would not unroll it and would keep the sums
            // in memory.
            self.add_row::<M, F>(0, &x);
            self.add_row::<M, F>(1, &x);
            self.add_row::<M, F>(2, &x);
            self.add_row::<M, F>(3, &x);
            if N == 8 {
                self.add_row::<M, F>(4, &x);
                self.add_row::<M, F>(5, &x);
                self.add_row::<M, F>(6, &x);
                self.add_row::<M, F>(7, &x);
            }
        }
    }

    /// Like [`Products::add`], for row `s` only.
    ///
    /// # Safety
    /// As for [`Products::add`].
    #[inline(always)]
    unsafe fn add_row<M: Multiply, F: Blocks>(&mut self, s: usize, x: &Half) {
        // SAFETY: this function has the same requirements.
        unsafe {
            let codes = F::codes(self.at[s], &mut self.own[s]);
            for b in 0..4 {
                self.sums[b] = M::add(self.sums[b], codes[2 * b], x.values[2 * b]);
                self.sums[b] = M::add(self.sums[b], codes[2 * b + 1], x.values[2 * b + 1]);
            }
            if F::MINIMUM {
                let (m, _) = four_halves(self.at[s].add(2), F::BYTES);
                self.acc[s] = vfmaq_f32(self.acc[s], m, x.minimums);
            }
            let scales;
            (scales, self.at[s]) = F::scales(self.at[s]);
            let factors = vmulq_f32(scales, x.scales);
            if F::OFFSET != 0.0 {
                self.acc[s] = vfmaq_f32(self.acc[s], factors, x.offsets);
            }
            (self.acc[s], self.before) = add_products(self.acc[s], self.sums, self.before, factors);
        }
    }
}
