//! A filter of system calls for a submission's test program (seccomp, in classic BPF).
//!
//! Tests need threads but no second process. With only one process, a limit on its address space
//! limits all of its memory and threads. So no control group is needed, and nothing can outlive the
//! process.

/// An instruction: operation, jump distances if a comparison is true and if it is false, and a
/// number.
type Instruction = (u16, u8, u8, u32);

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// Offset of the system call's number in `struct seccomp_data`, followed by two other offsets.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const NOT_PERMITTED: u32 = 0x0005_0000 | 1; // EPERM
const NO_SUCH_CALL: u32 = 0x0005_0000 | 38; // ENOSYS

const CLONE_THREAD: u32 = 0x0001_0000;

/// Numbers of system calls on one architecture.
struct Calls {
    audit: u32,
    clone: u32,
    clone3: u32,
    /// Numbers of refused calls: those that create processes or memory outside the address space,
    /// and io_uring, which has a large attack surface.
    refused: &'static [u32],
}

/// Returns the calls of the architecture that this program was built for, if they are known.
fn calls() -> Option<Calls> {
    if cfg!(target_arch = "x86_64") {
        // fork, vfork, memfd_create, shmget, msgget, io_uring_setup
        let refused = &[57, 58, 319, 29, 68, 425];
        Some(Calls { audit: 0xc000_003e, clone: 56, clone3: 435, refused })
    } else if cfg!(target_arch = "aarch64") {
        // memfd_create, shmget, msgget, io_uring_setup
        let refused = &[279, 194, 186, 425];
        Some(Calls { audit: 0xc000_00b7, clone: 220, clone3: 435, refused })
    } else {
        None
    }
}

/// Returns the filter in bubblewrap's format, eight bytes per instruction, or `None` for an unknown
/// architecture.
pub(super) fn filter() -> Option<Vec<u8>> {
    let calls = calls()?;
    let mut program: Vec<Instruction> = vec![
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, calls.audit),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        // From this number on, x86-64 repeats the calls for 32-bit pointers.
        (AT_LEAST, 0, 1, 0x4000_0000),
        (RETURN, 0, 0, KILL),
        // The flags of `clone3` are in memory, which a filter cannot read. The C library falls back
        // to `clone`.
        (EQUAL, 0, 1, calls.clone3),
        (RETURN, 0, 0, NO_SUCH_CALL),
    ];
    for call in calls.refused {
        program.extend([(EQUAL, 0, 1, *call), (RETURN, 0, 0, NOT_PERMITTED)]);
    }
    program.extend([
        (EQUAL, 0, 3, calls.clone),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (ANY_BIT, 1, 0, CLONE_THREAD),
        (RETURN, 0, 0, NOT_PERMITTED),
        (RETURN, 0, 0, ALLOW),
    ]);
    let bytes = program.into_iter().flat_map(|(code, yes, no, number)| {
        let [low, high] = code.to_ne_bytes();
        let [a, b, c, d] = number.to_ne_bytes();
        [low, high, yes, no, a, b, c, d]
    });
    Some(bytes.collect())
}
