//! Day 2, last task. The roofline: the maximum speed at which a machine can run a model file.
//!
//! Tasks here: week2-day2 task 4 (`work`, `Machine::seconds`, `Machine::tokens_per_second`,
//! `Machine::balanced_rows`). Everything else is provided.

use tiny_llm_formats::gguf::TensorInfo;

/// The work that one forward pass does with the model's weights. The cache, activations and norms
/// are small in comparison and not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Number of bytes of weights. They are read once for all rows of the pass.
    pub bytes: u64,
    /// Number of multiply-adds (a weight times an activation) for each row (token) of the pass.
    pub multiply_adds: u64,
}

/// The measured speed of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Number of bytes read from memory per second.
    pub bandwidth: f64,
    /// Number of multiplications and additions per second. A multiply-add counts as two operations,
    /// as in every data sheet.
    pub operations: f64,
}

/// Returns the work of a pass in which every row requests logits, as in decoding.
///
/// Each matrix (a tensor of two axes) is read once and multiplied by every row of activations. The
/// exception is `token_embd.weight`, the table of embeddings. If there is no `output.weight`, the
/// table is also the output head and counts like the other matrices. Otherwise only one row of the
/// table is read, and it is not multiplied.
#[must_use]
pub fn work(tensors: &[TensorInfo]) -> Work {
    // SOLUTION week2-day2 task 4
    let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
    let mut work = Work::default();
    for tensor in tensors {
        let [rows, cols] = *tensor.shape else { continue };
        let size = tensor.size as u64;
        if tensor.name == "token_embd.weight" && !tied {
            work.bytes += size / rows as u64;
        } else {
            work.bytes += size;
            work.multiply_adds += rows as u64 * cols as u64;
        }
    }
    work
    // END SOLUTION
}

impl Machine {
    /// Returns the minimum time of a pass of `rows` rows, in seconds. The machine computes while it
    /// reads the weights, so the result is the longer of these two times.
    #[must_use]
    pub fn seconds(&self, work: Work, rows: usize) -> f64 {
        // SOLUTION week2-day2 task 4
        let reading = work.bytes as f64 / self.bandwidth;
        let computing = 2.0 * work.multiply_adds as f64 * rows as f64 / self.operations;
        reading.max(computing)
        // END SOLUTION
    }

    /// Returns the maximum number of tokens per second if every pass has `rows` rows. A pass has
    /// one row in decoding, and many in a prompt.
    #[must_use]
    pub fn tokens_per_second(&self, work: Work, rows: usize) -> f64 {
        // SOLUTION week2-day2 task 4
        rows as f64 / self.seconds(work, rows)
        // END SOLUTION
    }

    /// Returns the number of rows at which computing a pass takes as long as reading its weights. A
    /// pass with fewer rows is limited by memory bandwidth. A pass with more rows is limited by
    /// arithmetic.
    #[must_use]
    pub fn balanced_rows(&self, work: Work) -> f64 {
        // SOLUTION week2-day2 task 4
        let reading = work.bytes as f64 / self.bandwidth;
        let computing_a_row = 2.0 * work.multiply_adds as f64 / self.operations;
        reading / computing_a_row
        // END SOLUTION
    }
}
