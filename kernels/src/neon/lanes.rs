//! What all kernels of this rung use: loads, and 16 products of bytes added up in four lanes.

use std::arch::{aarch64::*, asm};

/// How 16 signed bytes are multiplied with 16 others.
pub trait Multiply {
    /// `sums` and 16 products, four of them in each lane.
    ///
    /// # Safety
    /// The machine has the instruction.
    unsafe fn add(sums: int32x4_t, codes: int8x16_t, values: int8x16_t) -> int32x4_t;
}

/// Products of 16 bits, eight at a time, that are added in pairs: every 64-bit Arm processor.
pub struct Widening;

impl Multiply for Widening {
    #[inline(always)]
    unsafe fn add(sums: int32x4_t, codes: int8x16_t, values: int8x16_t) -> int32x4_t {
        // SAFETY: every processor of this architecture has these instructions. A product is at most
        // 128 · 127, which fits i16.
        unsafe {
            let low = vmull_s8(vget_low_s8(codes), vget_low_s8(values));
            let high = vmull_high_s8(codes, values);
            vpadalq_s16(vpadalq_s16(sums, low), high)
        }
    }
}

/// One instruction (`sdot`, Arm v8.2 with the dot product extension).
pub struct DotProduct;

impl Multiply for DotProduct {
    #[inline(always)]
    unsafe fn add(mut sums: int32x4_t, codes: int8x16_t, values: int8x16_t) -> int32x4_t {
        // The intrinsic (`vdotq_s32`) is not stable yet.
        // SAFETY: the caller has found the extension; the instruction reads and writes these three
        // registers alone.
        unsafe {
            asm!(
                ".arch_extension dotprod",
                "sdot {sums:v}.4s, {codes:v}.16b, {values:v}.16b",
                sums = inout(vreg) sums,
                codes = in(vreg) codes,
                values = in(vreg) values,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sums
    }
}

/// 16 bytes.
#[inline(always)]
pub fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the reference is to 16 bytes, and this load asks for no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// 16 signed bytes.
#[inline(always)]
pub fn load_signed(values: &[i8; 16]) -> int8x16_t {
    // SAFETY: the reference is to 16 bytes, and this load asks for no alignment.
    unsafe { vld1q_s8(values.as_ptr()) }
}

/// `Σ codes · values`, 16 of each.
///
/// # Safety
/// The machine has the instructions of `M`.
#[inline(always)]
pub unsafe fn dot_16<M: Multiply>(codes: int8x16_t, values: &[i8; 16]) -> i32 {
    // SAFETY: as for this function.
    unsafe { vaddvq_s32(M::add(vdupq_n_s32(0), codes, load_signed(values))) }
}

/// `Σ codes · values`, 32 of each.
///
/// # Safety
/// The machine has the instructions of `M`.
#[inline(always)]
pub unsafe fn dot_32<M: Multiply>(codes: [int8x16_t; 2], values: &[[i8; 16]]) -> i32 {
    // SAFETY: as for this function.
    unsafe {
        let sums = M::add(vdupq_n_s32(0), codes[0], load_signed(&values[0]));
        vaddvq_s32(M::add(sums, codes[1], load_signed(&values[1])))
    }
}

/// The low halves of 16 bytes and the high ones, 0…15.
#[inline(always)]
pub fn nibbles(bytes: &[u8; 16]) -> [uint8x16_t; 2] {
    let bytes = load(bytes);
    // SAFETY: every processor of this architecture has these instructions.
    unsafe { [vandq_u8(bytes, vdupq_n_u8(15)), vshrq_n_u8::<4>(bytes)] }
}

/// Codes less what all of them are too much.
#[inline(always)]
pub fn less(codes: uint8x16_t, offset: i8) -> int8x16_t {
    // SAFETY: every processor of this architecture has these instructions.
    unsafe { vsubq_s8(vreinterpretq_s8_u8(codes), vdupq_n_s8(offset)) }
}
