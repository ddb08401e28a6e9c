//! The streamed model on a Cortex-M4: 520 KB of memory, no heap, no operating system.
//!
//! It is made for QEMU's board `mps2-an386`. The debugger's calls ("semihosting") stand for an SD
//! card: the model lies in a file of the host, which is read as a card would be. The command line
//! holds the file, and the tokens of a prompt.
#![no_std]
#![no_main]

use core::{
    fmt::{self, Write as _},
    panic::PanicInfo,
};

#[allow(dead_code, reason = "not everything is for a chip")]
#[cfg(not(feature = "yours"))]
#[path = "../../src/week4"]
mod week4 {
    pub mod streamed;
}
#[allow(dead_code, reason = "as above")]
#[cfg(feature = "yours")]
#[path = "../../../src/week4"]
mod week4 {
    pub mod streamed;
}
#[allow(dead_code, reason = "as above")]
#[path = "../../../provided"]
mod provided {
    pub(crate) mod week4 {
        pub(crate) mod streamed;
    }
}

use week4::streamed::{
    self,
    arena::Arena,
    engine::{Engine, Options},
    ledger::Ledger,
    storage::Storage,
    store::Store,
};

/// All the memory that the model gets.
const BUDGET: usize = 256 * 1024;

#[repr(align(8))]
struct Memory([u8; BUDGET]);

static mut MEMORY: Memory = Memory([0; BUDGET]);

// The first words of the flash: where the stack begins, and where the program does. The float unit
// is off until it is switched on, and the stack is filled with a pattern that shows how much of it
// was used.
core::arch::global_asm!(
    ".section .vectors, \"a\"",
    ".word _stack_top",
    ".word reset",
    ".section .text.reset, \"ax\"",
    ".thumb_func",
    ".global reset",
    "reset:",
    "ldr r0, =0xe000ed88",
    "ldr r1, [r0]",
    "orr r1, r1, #0xf00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    "ldr r0, =_stack_bottom",
    "ldr r1, =_stack_top",
    "ldr r2, =0xdeadbeef",
    "1: str r2, [r0], #4",
    "cmp r0, r1",
    "blo 1b",
    "bl start",
    "b .",
);

unsafe extern "C" {
    static _stack_bottom: u32;
    static _stack_top: u32;
}

#[unsafe(no_mangle)]
extern "C" fn start() -> ! {
    let status = match run() {
        Ok(()) => 0,
        Err(problem) => {
            let _ = writeln!(Console, "error: {problem}");
            1
        }
    };
    exit(status)
}

/// What stopped the program.
enum Problem {
    Model(streamed::error::Error),
    Other(&'static str),
}

impl From<streamed::error::Error> for Problem {
    fn from(error: streamed::error::Error) -> Self {
        Self::Model(error)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// `FILE NEW TOKEN TOKEN …`: prints so many new tokens, each with the bits of its logit.
fn run() -> Result<(), Problem> {
    let mut line = [0; 512];
    let line = command_line(&mut line).ok_or(Problem::Other("no command line"))?;
    let mut words = line.split_ascii_whitespace();
    let file = words.next().ok_or(Problem::Other("no file"))?;
    let mut numbers = words.map(|word| word.parse::<u32>().unwrap_or(u32::MAX));
    let new = numbers.next().ok_or(Problem::Other("no number of new tokens"))?;
    let storage = Card::open(file).ok_or(Problem::Other("the file cannot be opened"))?;
    // SAFETY: nobody else has it; this function runs once.
    let memory: &'static mut [u8; BUDGET] = unsafe { &mut (*(&raw mut MEMORY)).0 };
    let ledger = Ledger::default();
    let store = Store::open(storage)?;
    let mut engine = Engine::new(store, Arena::new(memory, &ledger), Options::default())?;
    for token in numbers {
        engine.feed(token)?;
    }
    for _ in 0..new {
        let (token, logit) = engine.best()?.next().ok_or(Problem::Other("no token"))?;
        let _ = writeln!(Console, "token {token} {:08x}", logit.to_bits());
        engine.feed(token)?;
    }
    let counts = engine.counts();
    let _ = writeln!(Console, "memory {} of {BUDGET}, stack {}", ledger.peak(), stack_used());
    let _ = writeln!(Console, "read {} bytes, {} seeks", counts.bytes, counts.seeks);
    Ok(())
}

/// Bytes of the stack that do not hold the pattern any more.
fn stack_used() -> usize {
    let (bottom, top) = (&raw const _stack_bottom, &raw const _stack_top);
    let mut at = bottom;
    // SAFETY: the linker script says that the stack is all words from bottom to top.
    while at < top && unsafe { at.read_volatile() } == 0xdead_beef {
        // SAFETY: as above.
        at = unsafe { at.add(1) };
    }
    top as usize - at as usize
}

/// A call to the debugger.
fn semihosting(operation: u32, argument: usize) -> usize {
    let result;
    // SAFETY: the debugger reads and writes only what the blocks behind `argument` point to, which
    // the callers below own.
    unsafe {
        core::arch::asm!(
            "bkpt #0xab",
            inout("r0") operation as usize => result,
            in("r1") argument,
        );
    }
    result
}

fn exit(status: usize) -> ! {
    // SYS_EXIT_EXTENDED, "the application has ended", and its status.
    let block = [0x20026, status];
    semihosting(0x20, block.as_ptr() as usize);
    loop {}
}

/// What the program was called with.
fn command_line(buffer: &mut [u8]) -> Option<&str> {
    let mut block = [buffer.as_mut_ptr() as usize, buffer.len()];
    let failed = semihosting(0x15, block.as_mut_ptr() as usize) != 0;
    // SAFETY: the debugger has written through this pointer.
    let len = unsafe { block.as_ptr().add(1).read_volatile() };
    if failed { None } else { core::str::from_utf8(&buffer[..len]).ok() }
}

/// A file of the host.
struct Card {
    handle: usize,
    len: u64,
}

impl Card {
    fn open(path: &str) -> Option<Self> {
        let mut name = [0; 256];
        name.get_mut(..path.len())?.copy_from_slice(path.as_bytes());
        // "rb"
        let block = [name.as_ptr() as usize, 1, path.len()];
        let handle = semihosting(0x01, block.as_ptr() as usize);
        let len = semihosting(0x0c, (&raw const handle) as usize);
        (handle != usize::MAX && len != usize::MAX).then_some(Self { handle, len: len as u64 })
    }
}

impl Storage for Card {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<usize, i32> {
        let seek = [self.handle, at as usize];
        if semihosting(0x0a, seek.as_ptr() as usize) != 0 {
            return Err(1);
        }
        let block = [self.handle, out.as_mut_ptr() as usize, out.len()];
        // How many bytes were not read.
        let missing = semihosting(0x06, block.as_ptr() as usize);
        if missing > out.len() { Err(2) } else { Ok(out.len() - missing) }
    }
}

/// The debugger's console.
struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            semihosting(0x03, (&raw const byte) as usize);
        }
        Ok(())
    }
}

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Console, "{info}");
    exit(101)
}
