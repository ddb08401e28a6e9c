//! Checks that wrong counts and lengths in a GGUF file cost no memory: reading a file takes at most
//! `FOR_EACH_BYTE` times the size of the file, plus `BESIDE` bytes.
#![cfg(feature = "engine")]
#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait, and this one counts and calls the system's"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use tiny_llm_formats::gguf::{Array, DEFAULT_ALIGNMENT, Metadata, TensorType, Value};
use tiny_llm_reference::week2::gguf::{
    Gguf,
    writer::{head, lay_out},
};

/// The system's allocator. Counts the bytes that this thread holds, and their maximum.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    HELD.set(HELD.get() + bytes);
    MOST.set(MOST.get().max(HELD.get()));
}

// SAFETY: every call is passed on to the system's allocator unchanged. The counters are plain
// numbers without destructors, so reading them neither allocates nor fails.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are those that `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above. The pointer came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the maximum number of bytes allocated while a file is read, without the file's own
/// bytes.
fn most(bytes: &[u8]) -> usize {
    let file = bytes.to_vec();
    let before = HELD.get();
    MOST.set(before);
    drop(Gguf::parse(file.into(), "some.gguf"));
    (MOST.get() - before).unsigned_abs()
}

/// Maximum memory per byte of the file, in addition to `BESIDE`. The worst case is a string of one
/// letter: nine bytes become a `String` in a vector that doubles while its old allocation exists.
const FOR_EACH_BYTE: usize = 12;
const BESIDE: usize = 4096;

fn good() -> Vec<u8> {
    let mut metadata = Metadata::new("some.gguf");
    metadata.insert("general.architecture", Value::String("llama".to_owned()));
    metadata.insert(
        "tokenizer.ggml.tokens",
        Value::Array(Array::String((0..40).map(|i| i.to_string()).collect())),
    );
    metadata.insert("tokenizer.ggml.scores", Value::Array(Array::F32(vec![0.5; 40])));
    let tensors: Vec<_> =
        (0..5).map(|i| (format!("t{i}"), vec![2, 32], TensorType::Q8_0)).collect();
    let table = lay_out(&tensors, DEFAULT_ALIGNMENT).expect("these shapes fit");
    let mut file = head(&metadata, &table, DEFAULT_ALIGNMENT);
    file.resize(file.len() + 5 * 96, 7);
    file
}

#[test]
fn wrong_counts_and_lengths_cost_no_memory() {
    let good = good();
    Gguf::parse(good.clone().into(), "some.gguf").expect("the file is in order");
    let bound = FOR_EACH_BYTE * good.len() + BESIDE;
    assert!(most(&good) > good.len() / 4, "nothing is counted");
    for at in 0..good.len() {
        // Small changes, and large ones that overwrite a whole count.
        for (n, byte) in [(1, 0xFF), (1, 0), (2, 0xFF), (4, 0x7F), (8, 0xFF), (8, 0x0F)] {
            let mut bytes = good.clone();
            bytes.iter_mut().skip(at).take(n).for_each(|b| *b = byte);
            let most = most(&bytes);
            assert!(
                most <= bound,
                "{n} bytes at {at} set to {byte:#x}: {most} bytes were allocated for a file of {}",
                good.len()
            );
        }
    }
}

#[test]
fn memory_of_large_arrays_is_bounded_by_their_bytes() {
    let array = |array: Array| {
        let mut metadata = Metadata::new("some.gguf");
        metadata.insert("general.architecture", Value::String("llama".to_owned()));
        metadata.insert("a", Value::Array(array));
        head(&metadata, &[], DEFAULT_ALIGNMENT)
    };
    for (name, bytes) in [
        ("empty strings", array(Array::String(vec![String::new(); 100_000]))),
        ("strings of one letter", array(Array::String(vec!["a".to_owned(); 100_000]))),
        ("truth values", array(Array::Bool(vec![true; 1_000_000]))),
        ("numbers", array(Array::F64(vec![0.5; 100_000]))),
    ] {
        let most = most(&bytes);
        assert!(
            most <= FOR_EACH_BYTE * bytes.len() + BESIDE,
            "{name}: {most} bytes were allocated for a file of {}",
            bytes.len()
        );
    }
}
