//! Buffers of the CPU backend under a memory limit.

use tiny_llm_reference::week4::{backend::Backend, cpu::Cpu};

/// Some sizes are not a multiple of 4 bytes.
#[test]
fn released_bytes_can_be_allocated_again() {
    let mut cpu = Cpu::with_limit(16);
    for bytes in [1, 10, 16, 7, 16] {
        let buffer = cpu.allocate(bytes);
        let buffer = buffer.unwrap_or_else(|e| panic!("{bytes} bytes, and nothing in use: {e}"));
        cpu.release(buffer).expect("it is there");
    }
    let nine = cpu.allocate(9).expect("9 of 16 bytes, rounded up to 12");
    assert!(cpu.allocate(5).is_err(), "5 bytes, but only 4 are left");
    cpu.release(nine).expect("it is there");
    cpu.allocate(15).expect("15 of 16 bytes");
}
