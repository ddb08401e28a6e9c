//! Helpers of all WebAssembly kernels: loads, stores, and sums of lanes.

use std::arch::wasm32::*;

/// Loads 16 bytes.
#[inline(always)]
pub(super) fn load(bytes: &[u8; 16]) -> v128 {
    // SAFETY: the reference is to 16 bytes, and this load requires no alignment.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

/// Loads 16 signed bytes.
#[inline(always)]
pub(super) fn load_signed(values: &[i8; 16]) -> v128 {
    // SAFETY: as above.
    unsafe { v128_load(values.as_ptr().cast()) }
}

/// Loads four numbers.
#[inline(always)]
pub(super) fn load_floats(values: &[f32; 4]) -> v128 {
    // SAFETY: as above.
    unsafe { v128_load(values.as_ptr().cast()) }
}

/// Stores 16 signed bytes.
#[inline(always)]
pub(super) fn store_signed(values: &mut [i8; 16], sixteen: v128) {
    // SAFETY: as above.
    unsafe { v128_store(values.as_mut_ptr().cast(), sixteen) }
}

/// Widens 16 signed bytes to 16 bits each.
#[inline(always)]
pub(super) fn widen(bytes: v128) -> [v128; 2] {
    [i16x8_extend_low_i8x16(bytes), i16x8_extend_high_i8x16(bytes)]
}

/// Returns the sum of the four lanes.
#[inline(always)]
pub(super) fn sum(lanes: v128) -> f32 {
    let pairs = f32x4_add(lanes, i32x4_shuffle::<2, 3, 0, 1>(lanes, lanes));
    f32x4_extract_lane::<0>(pairs) + f32x4_extract_lane::<1>(pairs)
}
