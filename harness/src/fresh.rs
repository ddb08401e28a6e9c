//! Draws random inputs for each grading, and sends answers out of the process.
//!
//! The tests in `tests/fresh/` draw inputs, call a task's functions and print the answers. They
//! contain no expected values and compare nothing, because they run in the same process as the
//! submission, which could forge their verdicts. `cargo course grade` runs the same tests on the
//! reference with the same seed, and compares the answers.

use std::{cell::Cell, fmt, io::Write as _};

use tiny_llm_formats::{Tensor, tensor::tensor};

use crate::check::Tolerance;

/// Name of the environment variable that contains the seed of a grading.
pub const VARIABLE: &str = "TINY_LLM_FRESH";

/// Text at the start of a line that contains an answer in JSON.
pub const ANSWER: &str = "fresh answer: ";

/// Draws a task's inputs and sends its answers.
pub struct Fresh {
    state: Cell<u64>,
}

impl Fresh {
    /// Creates a generator of one task's inputs. Each task has its own `label`, so that different
    /// tasks get different inputs.
    #[must_use]
    pub fn new(label: &str) -> Self {
        let seed = std::env::var(VARIABLE).unwrap_or_default();
        let mut state = 0xcbf2_9ce4_8422_2325;
        for byte in seed.bytes().chain(label.bytes()) {
            // FNV-1a.
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self { state: Cell::new(state) }
    }

    /// Returns 32 random bits.
    fn bits(&self) -> u32 {
        // Knuth's linear congruential generator (MMIX). Its high bits are the most random.
        let state = self.state.get().wrapping_mul(6_364_136_223_846_793_005);
        self.state.set(state.wrapping_add(1_442_695_040_888_963_407));
        (self.state.get() >> 32) as u32
    }

    /// Returns a random whole number below `n`.
    pub fn below(&self, n: usize) -> usize {
        ((u64::from(self.bits()) * n as u64) >> 32) as usize
    }

    /// Returns a random whole number from `least` to `most`, inclusive.
    pub fn from_to(&self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns 64 random bits.
    pub fn u64(&self) -> u64 {
        u64::from(self.bits()) << 32 | u64::from(self.bits())
    }

    /// Returns a random number, uniform in `[0, 1)`.
    pub fn uniform(&self) -> f64 {
        f64::from(self.bits()) / 4_294_967_296.0
    }

    /// Returns a random number in −2..2.
    pub fn f32(&self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 22) as f32 - 2.0
    }

    /// Returns `n` random numbers in −2..2.
    pub fn f32s(&self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.f32()).collect()
    }

    /// Returns a tensor of random numbers in −2..2.
    pub fn tensor(&self, shape: &[usize]) -> Tensor {
        tensor(shape, self.f32s(shape.iter().product()))
    }

    /// Returns `n` random bytes.
    pub fn bytes(&self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.bits() as u8).collect()
    }

    /// Returns `n` random token ids below `vocabulary`.
    pub fn tokens(&self, n: usize, vocabulary: usize) -> Vec<u32> {
        (0..n).map(|_| self.below(vocabulary) as u32).collect()
    }

    /// Returns a random word of `n` lowercase letters.
    pub fn word(&self, n: usize) -> String {
        (0..n).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }

    /// Sends `found`, a numeric answer, which must match the reference's within the tolerance.
    pub fn answer(&self, what: &str, found: &Tensor, tolerance: impl Into<Tolerance>) {
        let tolerance = tolerance.into();
        send(&serde_json::json!({
            "what": what,
            "shape": found.shape(),
            "bits": found.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            "relative": matches!(tolerance, Tolerance::Relative(_)),
            "tolerance": tolerance.bound(),
        }));
    }

    /// Like [`Fresh::answer`], for a slice of numbers.
    pub fn answers(&self, what: &str, found: &[f32], tolerance: impl Into<Tolerance>) {
        self.answer(what, &tensor(&[found.len()], found.to_vec()), tolerance);
    }

    /// Sends `found`, an answer that must equal the reference's exactly.
    pub fn says(&self, what: &str, found: &impl fmt::Debug) {
        send(&serde_json::json!({ "what": what, "text": format!("{found:?}") }));
    }
}

fn send(answer: &serde_json::Value) {
    // Bypasses the test runner, which captures `println!`. The answer is on its own line.
    let line = format!("\n{ANSWER}{answer}\n");
    std::io::stdout().lock().write_all(line.as_bytes()).expect("standard output takes answers");
}
