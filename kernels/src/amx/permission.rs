//! Finds out whether this process may use the matrix unit.
//!
//! The unit's tiles take 8 KiB, which the operating system must save whenever it switches threads.
//! So a process may use them only after it has asked Linux for permission. One request covers all
//! its threads and forks. A program that the process executes must ask again. If the processor has
//! no unit, a hypervisor hides it, or the system refuses, the next lower rung (set of kernels) is
//! used.

use std::{fmt, sync::OnceLock};

/// Name of the environment variable with which tests pretend that the unit is hidden or refused:
/// `TINY_LLM_AMX=hidden`, `TINY_LLM_AMX=refused`.
pub(crate) const VARIABLE: &str = "TINY_LLM_AMX";

/// The reason why the matrix unit is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The processor has no matrix unit, or a hypervisor hides it.
    Absent,
    /// The system does not save the matrix unit's tiles when it switches threads.
    NotSaved,
    /// The system refused to let this process use the matrix unit. Holds the negative error number
    /// that Linux returned.
    Refused(i64),
    /// This program doesn't know how to ask this operating system for permission.
    UnknownSystem,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("this processor has no matrix unit"),
            Self::NotSaved => f.write_str("the system does not save the matrix unit's tiles"),
            Self::Refused(error) => {
                write!(
                    f,
                    "the system does not let this process use the matrix unit (error {error})"
                )
            }
            Self::UnknownSystem => f.write_str("the matrix unit is used only on Linux"),
        }
    }
}

/// Returns whether there is a matrix unit and the system permits its use. Asks the system once per
/// process.
pub(super) fn granted() -> bool {
    state().is_ok()
}

/// Returns `Ok` if this process can use the matrix unit.
///
/// # Errors
/// If the process can't use the unit. The error is the reason.
pub fn state() -> Result<(), Refusal> {
    static STATE: OnceLock<Result<(), Refusal>> = OnceLock::new();
    *STATE.get_or_init(|| {
        let pretended = std::env::var(VARIABLE).ok();
        ask(pretended.as_deref(), shown(), request)
    })
}

/// Asks the system for permission with `request` if `shown` is `Ok`. If `pretended` is `hidden` or
/// `refused`, returns an error without asking.
fn ask(
    pretended: Option<&str>,
    shown: Result<(), Refusal>,
    request: impl FnOnce() -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    match pretended {
        Some("hidden") => Err(Refusal::Absent),
        Some("refused") => shown.and(Err(Refusal::Refused(-1))),
        _ => shown.and_then(|()| request()),
    }
}

/// Checks that the processor reports a matrix unit, and that the system saves its tiles.
fn shown() -> Result<(), Refusal> {
    use std::arch::x86_64::*;
    // Bits in EDX of leaf 7: tiles, and products of bytes.
    const WANTED: u32 = 1 << 24 | 1 << 25;
    // Bits in XCR0, which the system sets if it saves the shapes and the tiles.
    const SAVED: u64 = 1 << 17 | 1 << 18;
    if !is_x86_feature_detected!("avx512f") {
        return Err(Refusal::Absent);
    }
    #[allow(unused_unsafe, reason = "older compilers ask for it")]
    // SAFETY: every x86-64 processor has the instruction, and one with AVX-512 has leaf 7.
    let leaf = unsafe { __cpuid_count(7, 0) };
    if leaf.edx & WANTED != WANTED {
        return Err(Refusal::Absent);
    }
    // SAFETY: AVX-512 was found. A system that supports it has also enabled this instruction.
    let saved = unsafe { saved() };
    if saved & SAVED == SAVED { Ok(()) } else { Err(Refusal::NotSaved) }
}

#[target_feature(enable = "xsave")]
fn saved() -> u64 {
    // SAFETY: register 0 always exists.
    unsafe { std::arch::x86_64::_xgetbv(0) }
}

/// Asks Linux for permission to use the matrix unit.
#[cfg(target_os = "linux")]
fn request() -> Result<(), Refusal> {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const TILE_DATA: i64 = 18;
    let answer: i64;
    // SAFETY: this call changes the process's permissions, and reads and writes none of its memory.
    // Linux overwrites the two registers.
    unsafe {
        std::arch::asm!(
            "syscall", inlateout("rax") ARCH_PRCTL => answer,
            in("rdi") ARCH_REQ_XCOMP_PERM, in("rsi") TILE_DATA, out("rcx") _, out("r11") _,
            options(nostack)
        );
    }
    if answer == 0 { Ok(()) } else { Err(Refusal::Refused(answer)) }
}

#[cfg(not(target_os = "linux"))]
fn request() -> Result<(), Refusal> {
    Err(Refusal::UnknownSystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_why_the_unit_is_not_used() {
        let refuse = || Err(Refusal::Refused(-95));
        assert_eq!(ask(None, Ok(()), || Ok(())), Ok(()));
        assert_eq!(ask(None, Ok(()), refuse), Err(Refusal::Refused(-95)));
        assert_eq!(ask(Some("refused"), Ok(()), || Ok(())), Err(Refusal::Refused(-1)));
        // If there is no unit, the system isn't asked.
        let never = || panic!("the system was asked");
        assert_eq!(ask(None, Err(Refusal::Absent), never), Err(Refusal::Absent));
        assert_eq!(ask(Some("hidden"), Ok(()), never), Err(Refusal::Absent));
        assert_eq!(ask(Some("refused"), Err(Refusal::Absent), never), Err(Refusal::Absent));
    }
}
