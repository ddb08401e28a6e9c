//! Asking for memory before it is needed, where that helps.
//!
//! Processors guess what is read next and fetch it by themselves. How well differs: on an Intel server (Emerald Rapids) one prefetch instruction made
//! a kernel 1.6 times as fast; on an AMD one (Zen 4) the same instruction cost an eighth to a fifth. So the make decides, unless
//! [`VARIABLE`] says otherwise.

#![allow(unsafe_code, reason = "a prefetch takes a pointer")]

use std::{arch::x86_64::*, sync::OnceLock};

/// Bytes ahead at which memory is asked for; 0 leaves it to the processor: `TINY_LLM_PREFETCH=4096`.
const VARIABLE: &str = "TINY_LLM_PREFETCH";

/// Memory answers after some hundred cycles, in which a core multiplies some kilobytes.
const AHEAD: usize = 4096;

/// Bytes that memory gives at a time.
const LINE: usize = 64;

/// How far ahead memory is asked for; 0 for not at all. The same for the whole run.
pub(super) fn distance() -> usize {
    static DISTANCE: OnceLock<usize> = OnceLock::new();
    *DISTANCE.get_or_init(|| {
        let wanted = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
        wanted.unwrap_or(if is_amd() { 0 } else { AHEAD })
    })
}

/// Asks for `BYTES` bytes, `distance` behind `at`.
#[inline(always)]
pub(super) fn prefetch<const BYTES: usize>(at: *const u8, distance: usize) {
    if distance > 0 {
        for line in 0..BYTES.div_ceil(LINE) {
            // SAFETY: a prefetch reads nothing, and the address may be any.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.wrapping_add(distance + line * LINE).cast()) };
        }
    }
}

/// The name that the processor gives of its maker, four letters in each of three registers.
fn is_amd() -> bool {
    // SAFETY: every x86-64 processor has the instruction and its leaf 0. Compilers from 1.92 on know that.
    #[allow(unused_unsafe, reason = "older compilers ask for it")]
    let leaf = unsafe { __cpuid(0) };
    [leaf.ebx, leaf.edx, leaf.ecx] == [*b"Auth", *b"enti", *b"cAMD"].map(u32::from_le_bytes)
}
