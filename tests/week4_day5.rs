//! Week 4, day 5: kernels for a graphics processor.
//!
//! Expected values: `python-ref/oracle/week4_day5.py`. Each result is followed by numbers that no
//! kernel may change. Without a graphics processor or Mesa's software renderer, nothing can be
//! verified, and every test fails.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tiny_llm::week4::gpu::{
    kernels::{Kernels, Which},
    record::DeviceMatrix,
};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};
use tiny_llm_gpu::{Buffer, Gpu, bytes_of};
use tiny_llm_harness::{
    check::Part,
    fixtures::{Case, Fixtures},
    messages::assert_good,
};

#[cfg(feature = "fresh")]
#[path = "fresh/week4_day5.rs"]
mod fresh;
#[path = "week4_day5/task_1.rs"]
mod task_1;
#[path = "week4_day5/task_2.rs"]
mod task_2;
#[path = "week4_day5/task_3.rs"]
mod task_3;
#[path = "week4_day5/task_4.rs"]
mod task_4;
#[path = "week4_day5/task_5.rs"]
mod task_5;
#[path = "week4_day5/task_6.rs"]
mod task_6;

const DISPATCH: &Part = &Part {
    task: "week4-day5 task 1",
    what: "workgroups",
    check: task_1::task_1_dispatch_size_returns_the_fewest_workgroups,
};
const ELEMENTWISE: &Part =
    &Part { task: "week4-day5 task 1", what: "elementwise kernels", check: task_1::both };
const NORM: &Part = &Part {
    task: "week4-day5 task 2",
    what: "RMSNorm",
    check: task_2::task_2_rms_norm_matches_pytorch,
};
const MAT_VEC: &Part = &Part {
    task: "week4-day5 task 3",
    what: "matrix times vector",
    check: task_3::task_3_mat_vec_matches_pytorch,
};
const MAT_MAT: &Part = &Part {
    task: "week4-day5 task 4",
    what: "tiles",
    check: task_4::task_4_mat_mat_matches_pytorch,
};

/// The value of the numbers after a result, which no kernel may change.
const UNTOUCHED: f32 = -777.0;

/// Returns the graphics processor of all tests, for one test at a time. So a kernel that never ends
/// is reported for the test that runs it.
fn gpu() -> MutexGuard<'static, Gpu> {
    static GPU: OnceLock<Result<Mutex<Gpu>, String>> = OnceLock::new();
    let open = || Gpu::open().map(Mutex::new).map_err(|error| format!("{error:#}"));
    match GPU.get_or_init(open) {
        Ok(gpu) => gpu.lock().unwrap_or_else(PoisonError::into_inner),
        Err(why) => panic!("not verified: {why}"),
    }
}

/// Calls `check` with every case whose name begins with `prefix`.
fn each(prefix: &str, check: impl Fn(&Case)) {
    let fixtures = Fixtures::open("week4_day5");
    for name in fixtures.cases(prefix) {
        check(&fixtures.case(&name));
    }
}

/// Returns a buffer of `numbers`, followed by NaN.
fn upload(gpu: &Gpu, numbers: &[f32]) -> Buffer {
    let all: Vec<f32> = numbers.iter().copied().chain([f32::NAN; 8]).collect();
    assert_good("an upload", || gpu.upload(bytes_of(&all)))
}

/// Returns the bytes of a case's words.
fn stored(case: &Case, name: &str) -> Vec<u8> {
    case.integers(name).iter().flat_map(|&word| (word as u32).to_le_bytes()).collect()
}

fn matrix(gpu: &Gpu, case: &Case, name: &str, of: (TensorType, usize, usize)) -> DeviceMatrix {
    let (tensor_type, rows, k) = of;
    let bytes = assert_good("an upload", || gpu.upload(&stored(case, name)));
    DeviceMatrix { tensor_type, rows, k, bytes }
}

fn type_of(case: &Case) -> TensorType {
    match case.value("type").as_str() {
        Some("Q4_0") => TensorType::Q4_0,
        _ => TensorType::Q8_0,
    }
}

/// Runs one kernel into a buffer that is longer than its result. Compares the whole buffer.
fn check(
    gpu: &Gpu,
    case: &Case,
    which: Which,
    uniforms: &[u32],
    reads: &[&Buffer],
    groups: [u32; 3],
) {
    let found = run(gpu, case.tensor("output").len(), which, uniforms, reads, groups);
    case.check("output", &tensor(&[found.len()], found));
}

/// Runs a kernel on a buffer of `n` numbers. Returns the numbers in it.
fn run(
    gpu: &Gpu,
    n: usize,
    which: Which,
    uniforms: &[u32],
    reads: &[&Buffer],
    groups: [u32; 3],
) -> Vec<f32> {
    let kernels = Kernels::new(gpu);
    let kernel = assert_good(&which.name(), || kernels.get(which));
    assert_good(&which.name(), || {
        let result = gpu.upload(bytes_of(&vec![UNTOUCHED; n]))?;
        let mut pass = gpu.pass();
        pass.run(&kernel, uniforms, reads, &result, groups)?;
        pass.submit()?;
        gpu.numbers(&result)
    })
}
