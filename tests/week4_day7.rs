//! Week 4, day 7: int8 rows, a budget, a slow device, a layer and a vocabulary within the budget.
//!
//! Expected values: `python-ref/oracle/week4_day7.py`.

use std::cell::RefCell;

use tiny_llm::week4::streamed::{
    arena::Arena,
    error::Error,
    int8::{Activations, dot, quantize_int8, quantize_int16},
    layer::Cache,
    ledger::Ledger,
    shape::{Component, HEADER, Shape},
    storage::Storage,
    store::Store,
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    allocations::CountingAllocator,
    check::{self, Part},
    fixtures::{Case, Fixtures},
};

use task_1::{
    task_1_dot_returns_exact_sums, task_1_quantize_int8_matches_pytorch,
    task_1_quantize_int16_matches_pytorch,
};
use task_2::{
    task_2_scope_releases_its_memory_when_dropped, task_2_take_returns_aligned_zeroed_parts,
};
use task_3::{
    task_3_product_is_independent_of_the_chunk_size, task_3_product_of_various_row_ranges,
    task_3_read_handles_short_reads,
};
use task_4::{task_4_attend_matches_pytorch, task_4_mlp_is_independent_of_the_chunk_size};

#[path = "week4_day7/task_1.rs"]
mod task_1;
#[path = "week4_day7/task_2.rs"]
mod task_2;
#[path = "week4_day7/task_3.rs"]
mod task_3;
#[path = "week4_day7/task_4.rs"]
mod task_4;
#[path = "week4_day7/task_5.rs"]
mod task_5;
#[path = "week4_day7/task_5_unstreamed.rs"]
mod task_5_unstreamed;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const INT8: &Part = &Part {
    task: "week4-day7 task 1",
    what: "rows and products of whole numbers",
    check: || {
        task_1_quantize_int8_matches_pytorch();
        task_1_quantize_int16_matches_pytorch();
        task_1_dot_returns_exact_sums();
    },
};
const BUDGET: &Part = &Part {
    task: "week4-day7 task 2",
    what: "the arena",
    check: || {
        task_2_take_returns_aligned_zeroed_parts();
        task_2_scope_releases_its_memory_when_dropped();
    },
};
const STORE: &Part = &Part {
    task: "week4-day7 task 3",
    what: "the store",
    check: || {
        task_3_read_handles_short_reads();
        task_3_product_is_independent_of_the_chunk_size();
        task_3_product_of_various_row_ranges();
    },
};
const LAYER: &Part = &Part {
    task: "week4-day7 task 4",
    what: "the layer",
    check: || {
        task_4_attend_matches_pytorch();
        task_4_mlp_is_independent_of_the_chunk_size();
    },
};

fn fixtures() -> Fixtures {
    Fixtures::open("week4_day7")
}

fn values(x: &Tensor) -> Vec<f32> {
    x.iter().copied().collect()
}

/// Returns `bytes` nonzero bytes, as if an earlier step had left them. They are aligned for any
/// type, and are never freed.
fn memory(bytes: usize) -> &'static mut [u8] {
    let memory = vec![u128::from_ne_bytes([0xa5; 16]); bytes.div_ceil(16)].leak();
    &mut bytemuck::cast_slice_mut(memory)[..bytes]
}

/// Returns an arena over such a [`memory`] of `bytes` bytes, and its ledger.
fn arena_of(bytes: usize) -> (Arena<'static>, &'static Ledger) {
    let ledger: &Ledger = Box::leak(Box::default());
    (Arena::new(memory(bytes), ledger), ledger)
}

/// Returns the shape of the fixtures' model.
fn shape() -> Shape {
    let case = fixtures().case("model/weights");
    Shape {
        vocabulary: case.count("vocabulary"),
        tokens: case.count("tokens"),
        hidden: case.count("hidden"),
        heads: case.count("heads"),
        kv_heads: case.count("kv_heads"),
        head_dim: case.count("head_dim"),
        intermediate: case.count("intermediate"),
        positions: case.count("positions"),
        eps: case.scalar("eps") as f32,
    }
}

/// Returns the name of a part in the fixtures.
fn name(part: Component) -> &'static str {
    match part {
        Component::Embedding => "embedding",
        Component::Rope => "rope",
        Component::AttentionNorm => "attention_norm",
        Component::Query => "query",
        Component::Key => "key",
        Component::Value => "value",
        Component::Output => "output",
        Component::MlpNorm => "mlp_norm",
        Component::Gate => "gate",
        Component::Up => "up",
        Component::Down => "down",
        Component::FinalNorm => "final_norm",
        Component::Head => "head",
    }
}

/// Returns the fixtures' model as a streamed file.
fn file() -> Vec<u8> {
    let fixtures = fixtures();
    let case = fixtures.case("model/weights");
    let mut file = shape().header().to_vec();
    for part in Component::ALL {
        let numbers = case.tensor(name(part));
        if !part.is_matrix() {
            file.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            continue;
        }
        let scales = case.tensor(&format!("{}_scale", name(part)));
        for (row, scale) in numbers.outer_iter().zip(&scales) {
            file.extend(scale.to_le_bytes());
            file.extend(row.iter().map(|x| *x as i8 as u8));
        }
    }
    assert_eq!(file.len() as u64, shape().file_bytes(), "the fixtures' file");
    file
}

/// A device that returns few bytes at a time, or fails.
struct Device<'a> {
    file: &'a [u8],
    /// Maximum number of bytes that one call returns.
    at_once: usize,
    /// At this byte and after it, each call returns `then`.
    good: usize,
    then: Result<usize, i32>,
    /// The position and length of each call.
    asked: &'a RefCell<Vec<(u64, usize)>>,
}

impl<'a> Device<'a> {
    fn new(file: &'a [u8], asked: &'a RefCell<Vec<(u64, usize)>>) -> Self {
        Self { file, at_once: usize::MAX, good: file.len(), then: Ok(0), asked }
    }
}

impl Storage for Device<'_> {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<usize, i32> {
        self.asked.borrow_mut().push((at, out.len()));
        let at = at as usize;
        if at >= self.good {
            return self.then;
        }
        let n = out.len().min(self.at_once).min(self.good - at);
        out[..n].copy_from_slice(&self.file[at..at + n]);
        Ok(n)
    }
}

#[track_caller]
fn open(file: &[u8]) -> Store<&[u8]> {
    Store::open(file).unwrap_or_else(|error| panic!("the fixtures' file: {error}"))
}

/// Fails the test because of an unexpected error.
#[track_caller]
fn refused(call: &str, error: &Error) -> ! {
    panic!("{call}\n  found    an error: {error}\n  expected none")
}

#[track_caller]
fn assert_done(call: &str, done: Result<(), Error>) {
    done.unwrap_or_else(|error| refused(call, &error));
}

/// Returns the bits of numbers.
fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week4_day7.rs"]
mod fresh;
