//! Helpers of all NEON kernels: loads, half precision, and products of bytes added in four lanes.
//!
//! Instructions whose intrinsics are not stable yet (`sdot`, `smmla`, `fcvtl`) are written as
//! `asm!`. So are two sequences of other instructions (`four_pairs`, `add_products`), to keep their
//! order: the compiler would delay them until it runs out of registers.

use std::arch::{aarch64::*, asm};

/// A way to multiply signed bytes.
pub trait Multiply {
    /// Adds the 16 products of `codes` and `values` to `sums`, four to each lane.
    ///
    /// # Safety
    /// The machine must have the instruction.
    unsafe fn add(sums: int32x4_t, codes: int8x16_t, values: int8x16_t) -> int32x4_t;

    /// Adds 16 products to `sums`. Lane `i` receives the products of codes `4i … 4i + 3` and values
    /// `4 LANE … 4 LANE + 3`, which are the same for all lanes.
    ///
    /// # Safety
    /// The machine must have the instruction.
    unsafe fn add_four<const LANE: i32>(
        sums: int32x4_t,
        codes: int8x16_t,
        values: int8x16_t,
    ) -> int32x4_t;
}

/// Multiplies with 16-bit products, eight at a time, and adds them in pairs. Every 64-bit Arm
/// processor can do this.
///
/// The sum of two products is at most 2 · 128 · 127, which fits in i16.
pub struct Widening;

impl Multiply for Widening {
    #[inline(always)]
    unsafe fn add(sums: int32x4_t, codes: int8x16_t, values: int8x16_t) -> int32x4_t {
        // SAFETY: every processor of this architecture has these instructions.
        unsafe {
            let low = vmull_s8(vget_low_s8(codes), vget_low_s8(values));
            vpadalq_s16(sums, vmlal_high_s8(low, codes, values))
        }
    }

    #[inline(always)]
    unsafe fn add_four<const LANE: i32>(
        sums: int32x4_t,
        codes: int8x16_t,
        values: int8x16_t,
    ) -> int32x4_t {
        // SAFETY: as above.
        unsafe {
            let four = vdupq_laneq_s32::<LANE>(vreinterpretq_s32_s8(values));
            let four = vreinterpretq_s8_s32(four);
            let low = vmull_s8(vget_low_s8(codes), vget_low_s8(four));
            vpadalq_s16(sums, vpaddq_s16(low, vmull_high_s8(codes, four)))
        }
    }
}

/// Multiplies with one instruction (`sdot`, Arm v8.2 with the dot product extension).
pub struct DotProduct;

impl Multiply for DotProduct {
    #[inline(always)]
    unsafe fn add(mut sums: int32x4_t, codes: int8x16_t, values: int8x16_t) -> int32x4_t {
        // This `asm!` and those below are not `pure`, so that the instructions keep their order and
        // only a few sums of an unrolled loop are live at a time. SAFETY: the caller has checked
        // for the extension; the instruction reads and writes only these three registers.
        unsafe {
            asm!(
                ".arch_extension dotprod",
                "sdot {sums:v}.4s, {codes:v}.16b, {values:v}.16b",
                sums = inout(vreg) sums,
                codes = in(vreg) codes,
                values = in(vreg) values,
                options(nomem, nostack, preserves_flags),
            );
        }
        sums
    }

    #[inline(always)]
    unsafe fn add_four<const LANE: i32>(
        mut sums: int32x4_t,
        codes: int8x16_t,
        values: int8x16_t,
    ) -> int32x4_t {
        // SAFETY: as above.
        unsafe {
            asm!(
                ".arch_extension dotprod",
                "sdot {sums:v}.4s, {codes:v}.16b, {values:v}.4b[{lane}]",
                sums = inout(vreg) sums,
                codes = in(vreg) codes,
                values = in(vreg) values,
                lane = const LANE,
                options(nomem, nostack, preserves_flags),
            );
        }
        sums
    }
}

/// Adds a product of matrices, `[2, 8] × [8, 2] → [2, 2]`, to `sums` (`smmla`, Arm v8.6 or the
/// extension `i8mm`): `sums[2r + t] += Σ rows[8r + i] · columns[8t + i]`.
///
/// # Safety
/// The machine must have the instruction.
#[inline(always)]
pub(super) unsafe fn add_matrix(
    mut sums: int32x4_t,
    rows: int8x16_t,
    columns: int8x16_t,
) -> int32x4_t {
    // SAFETY: the caller has checked for the extension; the instruction reads and writes only these
    // three registers.
    unsafe {
        asm!(
            ".arch_extension i8mm",
            "smmla {sums:v}.4s, {rows:v}.16b, {columns:v}.16b",
            sums = inout(vreg) sums,
            rows = in(vreg) rows,
            columns = in(vreg) columns,
            options(nomem, nostack, preserves_flags),
        );
    }
    sums
}

/// Loads 16 bytes.
#[inline(always)]
pub fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the reference is to 16 bytes, and this load requires no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Loads 16 signed bytes.
#[inline(always)]
pub fn load_signed(values: &[i8; 16]) -> int8x16_t {
    // SAFETY: the reference is to 16 bytes, and this load requires no alignment.
    unsafe { vld1q_s8(values.as_ptr()) }
}

/// Loads eight 16-bit numbers.
#[inline(always)]
pub fn load_sums(sums: &[i16; 8]) -> int16x8_t {
    // SAFETY: the reference is to 16 bytes, and this load requires no alignment.
    unsafe { vld1q_s16(sums.as_ptr()) }
}

/// Loads four floats.
#[inline(always)]
pub(super) fn load_floats(values: &[f32; 4]) -> float32x4_t {
    // SAFETY: the reference is to 16 bytes, and this load requires no alignment.
    unsafe { vld1q_f32(values.as_ptr()) }
}

/// Converts the half-precision number in these two bytes to f32.
#[inline(always)]
pub fn half(bytes: [u8; 2]) -> f32 {
    let value: f32;
    // SAFETY: the instructions read and write only these two registers.
    unsafe {
        asm!(
            "fmov {value:s}, {bits:w}",
            "fcvt {value:s}, {value:h}",
            bits = in(reg) u32::from(u16::from_le_bytes(bytes)),
            value = out(vreg) value,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    value
}

/// Converts two consecutive half-precision numbers into the first two lanes. The other lanes are 0.
#[inline(always)]
pub(super) fn two_halves(bytes: &[u8; 4]) -> float32x4_t {
    let values: float32x4_t;
    // SAFETY: the load reads four bytes, the length of `bytes`.
    unsafe {
        asm!(
            "ldr {values:s}, [{from}]",
            "fcvtl {values:v}.4s, {values:v}.4h",
            from = in(reg) bytes.as_ptr(),
            values = out(vreg) values,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    values
}

/// Converts a half-precision number into the first lane. The other lanes are 0.
#[inline(always)]
pub(super) fn one_half(bytes: &[u8; 2]) -> float32x4_t {
    let values: float32x4_t;
    // SAFETY: the load reads two bytes, the length of `bytes`.
    unsafe {
        asm!(
            "ldr {values:h}, [{from}]",
            "fcvtl {values:v}.4s, {values:v}.4h",
            from = in(reg) bytes.as_ptr(),
            values = out(vreg) values,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    values
}

/// Converts four half-precision numbers, the first at `from` and the others `step` bytes apart.
/// Also returns the address where a fifth number would be.
///
/// # Safety
/// `from` must point to `4 · step` readable bytes.
#[inline(always)]
pub(super) unsafe fn four_halves(mut from: *const u8, step: usize) -> (float32x4_t, *const u8) {
    let values: float32x4_t;
    if 3 * step + 4 <= 64 {
        // All four are within 64 bytes, which are loaded into four registers for a table look-up.
        let at = |i: usize| (i / 2 % 4 * step + i % 2) as u8;
        let places = load(&std::array::from_fn(at));
        // SAFETY: 64 bytes are read, fewer than `4 * step`.
        unsafe {
            asm!(
                "ld1 {{v16.16b, v17.16b, v18.16b, v19.16b}}, [{from}], {four}",
                "tbl {values:v}.16b, {{v16.16b, v17.16b, v18.16b, v19.16b}}, {places:v}.16b",
                "fcvtl {values:v}.4s, {values:v}.4h",
                from = inout(reg) from,
                four = in(reg) 4 * step,
                places = in(vreg) places,
                values = lateout(vreg) values,
                out("v16") _, out("v17") _, out("v18") _, out("v19") _,
                options(readonly, nostack, preserves_flags),
            );
        }
        return (values, from);
    }
    // SAFETY: two bytes are read at each of four addresses, which are valid according to the
    // caller.
    unsafe {
        asm!(
            "ld1 {{{values:v}.h}}[0], [{from}], {step}",
            "ld1 {{{values:v}.h}}[1], [{from}], {step}",
            "ld1 {{{values:v}.h}}[2], [{from}], {step}",
            "ld1 {{{values:v}.h}}[3], [{from}], {step}",
            "fcvtl {values:v}.4s, {values:v}.4h",
            from = inout(reg) from,
            step = in(reg) step,
            values = out(vreg) values,
            options(readonly, nostack, preserves_flags),
        );
    }
    (values, from)
}

/// Loads 32 bytes at each of four addresses: `from`, and then each `step` bytes after the previous
/// one. Moves `from` to where a fifth address would be.
///
/// # Safety
/// The 32 bytes at all four addresses must be readable.
#[inline(always)]
pub(super) unsafe fn four_pairs(from: &mut *const u8, step: usize) -> [int8x16_t; 8] {
    let (a, b, c, d): (int8x16_t, int8x16_t, int8x16_t, int8x16_t);
    let (e, f, g, h): (int8x16_t, int8x16_t, int8x16_t, int8x16_t);
    // One instruction loads two registers, which must have consecutive numbers.
    // SAFETY: 32 bytes are read at each of four addresses, which are valid according to the caller.
    unsafe {
        asm!(
            "ld1 {{v16.16b, v17.16b}}, [{from}], {step}",
            "ld1 {{v18.16b, v19.16b}}, [{from}], {step}",
            "ld1 {{v20.16b, v21.16b}}, [{from}], {step}",
            "ld1 {{v22.16b, v23.16b}}, [{from}], {step}",
            from = inout(reg) *from,
            step = in(reg) step,
            out("v16") a, out("v17") b, out("v18") c, out("v19") d,
            out("v20") e, out("v21") f, out("v22") g, out("v23") h,
            options(readonly, nostack, preserves_flags),
        );
    }
    [a, b, c, d, e, f, g, h]
}

/// Adds four dot products, each times its factor, one to each lane of `acc`. Dot product `i` is the
/// total of the lanes of `sums[i]`, minus their previous total, `before[i]`. Returns `acc` and the
/// new totals.
///
/// The sums are never reset to zero, which saves one instruction per sum. They may wrap around, but
/// their differences are still correct.
#[inline(always)]
pub(super) fn add_products(
    mut acc: float32x4_t,
    sums: [int32x4_t; 4],
    before: int32x4_t,
    factors: float32x4_t,
) -> (float32x4_t, int32x4_t) {
    let now: int32x4_t;
    // SAFETY: the instructions read and write only these registers.
    unsafe {
        asm!(
            "addp {new:v}.4s, {a:v}.4s, {b:v}.4s",
            "addp {now:v}.4s, {c:v}.4s, {d:v}.4s",
            "addp {now:v}.4s, {new:v}.4s, {now:v}.4s",
            "sub {new:v}.4s, {now:v}.4s, {before:v}.4s",
            "scvtf {new:v}.4s, {new:v}.4s",
            "fmla {acc:v}.4s, {new:v}.4s, {factors:v}.4s",
            acc = inout(vreg) acc,
            new = out(vreg) _,
            now = out(vreg) now,
            a = in(vreg) sums[0],
            b = in(vreg) sums[1],
            c = in(vreg) sums[2],
            d = in(vreg) sums[3],
            before = in(vreg) before,
            factors = in(vreg) factors,
            options(nomem, nostack, preserves_flags),
        );
    }
    (acc, now)
}

/// Computes `sums + products · scales[LANE]`, with the same scale for all lanes.
#[inline(always)]
pub(super) fn add_scaled<const LANE: i32>(
    mut sums: int32x4_t,
    products: int32x4_t,
    scales: int32x4_t,
) -> int32x4_t {
    // The compiler would widen each scale separately.
    // SAFETY: the instruction reads and writes only these three registers.
    unsafe {
        asm!(
            "mla {sums:v}.4s, {products:v}.4s, {scales:v}.s[{lane}]",
            sums = inout(vreg) sums,
            products = in(vreg) products,
            scales = in(vreg) scales,
            lane = const LANE,
            options(nomem, nostack, preserves_flags),
        );
    }
    sums
}

/// Reinterprets bytes as signed.
#[inline(always)]
pub(super) fn signed(codes: uint8x16_t) -> int8x16_t {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { vreinterpretq_s8_u8(codes) }
}

/// Returns the low nibbles of 16 bytes, then the high nibbles, each in 0…15.
#[inline(always)]
pub(super) fn nibbles(bytes: uint8x16_t) -> [int8x16_t; 2] {
    // SAFETY: as above.
    unsafe { [signed(vandq_u8(bytes, vdupq_n_u8(15))), signed(vshrq_n_u8::<4>(bytes))] }
}
