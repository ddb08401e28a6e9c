//! Asking for memory before it is needed, where that helps.
//!
//! Processors guess what is read next and fetch it by themselves. How well, and how far ahead one
//! should ask, differs: on an Intel server (Emerald Rapids) asking 4 KiB ahead made a kernel 1.6
//! times as fast; on an AMD one (Zen 4) that is worse than not to ask, and 1 KiB ahead gains a
//! twentieth; on its successor (Zen 5) one core decodes up to a tenth faster with 2 KiB than with 1.
//! So make and family decide, unless [`VARIABLE`] says otherwise.

#![allow(unsafe_code, reason = "a prefetch takes a pointer")]

use std::{arch::x86_64::*, sync::OnceLock};

/// Bytes ahead at which memory is asked for; 0 leaves it to the processor:
/// `TINY_LLM_PREFETCH=2048`.
const VARIABLE: &str = "TINY_LLM_PREFETCH";

/// Memory answers after some hundred cycles, in which a core multiplies some kilobytes.
const AHEAD: usize = 4096;
const AHEAD_ZEN_4: usize = 1024;
const AHEAD_ZEN_5: usize = 2048;

/// Bytes that memory gives at a time.
pub(super) const LINE: usize = 64;

/// How far ahead memory is asked for; 0 for not at all. The same for the whole run.
pub(super) fn distance() -> usize {
    static DISTANCE: OnceLock<usize> = OnceLock::new();
    *DISTANCE.get_or_init(|| {
        let wanted = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
        wanted.unwrap_or_else(|| match amd_family() {
            None => AHEAD,
            Some(..ZEN_5) => AHEAD_ZEN_4,
            Some(ZEN_5..) => AHEAD_ZEN_5,
        })
    })
}

/// Asks for the next tile of a cache, or its next page, while one is worked on. Where they lie
/// `in_a_row`, Zen 5 finds the next one by itself, and is slower with these requests beside its own:
/// attention over 1,000 positions of SmolLM2-360M's shape, on one core, took 4.4 ms of a token with
/// them and 2.2 ms without. Where they don't, it needs them as others do.
pub(super) fn prefetch_next(from: *const u8, len: usize, in_a_row: bool) {
    static FINDS_ROWS: OnceLock<bool> = OnceLock::new();
    let finds = || *FINDS_ROWS.get_or_init(|| amd_family().is_some_and(|family| family >= ZEN_5));
    if distance() == 0 {
        return;
    }
    if !in_a_row {
        fetch::<_MM_HINT_T0>(from, len);
    } else if !finds() {
        fetch::<_MM_HINT_T1>(from, len);
    }
}

/// Asks for as many bytes as there are in `bytes`, `distance` behind them; for none if that is 0.
#[inline(always)]
pub(super) fn prefetch(bytes: &[u8], distance: usize) {
    if distance > 0 {
        fetch::<_MM_HINT_T1>(bytes.as_ptr().wrapping_add(distance), bytes.len());
    }
}

/// Asks for `len` bytes.
#[inline(always)]
fn fetch<const HINT: i32>(from: *const u8, len: usize) {
    for line in 0..len.div_ceil(LINE) {
        // SAFETY: a prefetch reads nothing, and any address is allowed.
        unsafe { _mm_prefetch::<HINT>(from.wrapping_add(line * LINE).cast()) };
    }
}

/// Asks for a line.
#[inline(always)]
pub(super) fn fetch_line(at: *const u8) {
    // SAFETY: a prefetch reads nothing, and any address is allowed.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) };
}

/// The first family of AMD's processors with a fifth-generation Zen core.
const ZEN_5: u32 = 0x1a;

/// The family of an AMD processor; `None` on one of another make.
fn amd_family() -> Option<u32> {
    // SAFETY: every x86-64 processor has the instruction and its leaves 0 and 1. Compilers from
    // 1.92 on know that.
    #[allow(unused_unsafe, reason = "older compilers ask for it")]
    let [make, version] = unsafe { [__cpuid(0), __cpuid(1)] };
    // The name of the make, four letters in each of three registers.
    let name = [make.ebx, make.edx, make.ecx];
    let is_amd = name == [*b"Auth", *b"enti", *b"cAMD"].map(u32::from_le_bytes);
    // Where four bits are not enough for the family, eight more follow, to be added.
    let (family, more) = (version.eax >> 8 & 15, version.eax >> 20 & 255);
    is_amd.then_some(if family == 15 { family + more } else { family })
}
