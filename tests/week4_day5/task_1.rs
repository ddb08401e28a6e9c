//! Week 4, day 5, task 1: one thread for each number.

use tiny_llm::week4::gpu::{
    elementwise::{THREADS, dispatch_size},
    kernels::{Kernels, Which},
};
use tiny_llm_harness::{
    check::assert_answer,
    fixtures::Case,
    messages::{assert_good, assert_refused},
};

use super::{UNTOUCHED, bytes_of, check, each, gpu, run, upload};

#[test]
pub(super) fn task_1_dispatch_size_returns_the_fewest_workgroups() {
    each("task_1_dispatch/", |case| {
        let (n, per_group) = (case.count("n"), case.count("per_group") as u32);
        let what = format!("{}: dispatch_size({n}, {per_group})", case.name());
        let found = assert_good(&what, || dispatch_size(n, per_group));
        let expected: Vec<u32> = case.read("groups");
        assert_answer(&what, &found.to_vec(), &expected);
    });
    let most = 65_535 * 65_535;
    assert_good("dispatch_size of 65,535 × 65,535 workgroups", || dispatch_size(most, 1));
    assert_refused(
        "dispatch_size of one more than 65,535 × 65,535 workgroups",
        &[&(most + 1).to_string()],
        || dispatch_size(most + 1, 1),
    );
}

fn elementwise(which: Which) -> impl Fn(&Case) {
    move |case| {
        let (a, b) = (case.numbers("a"), case.numbers("b"));
        let n = a.len();
        let gpu = gpu();
        let (a, b) = (upload(&gpu, &a), upload(&gpu, &b));
        check(&gpu, case, which, &[n as u32], &[&a, &b], [n.div_ceil(64) as u32, 1, 1]);
    }
}

#[test]
fn task_1_add_matches_pytorch() {
    each("task_1_add/", elementwise(Which::Add));
}

#[test]
fn task_1_silu_gate_matches_pytorch() {
    each("task_1_silu/", elementwise(Which::SiluGate));
}

pub(super) fn both() {
    task_1_add_matches_pytorch();
    task_1_silu_gate_matches_pytorch();
}

/// The grid may have several rows and too many workgroups. Each output is computed once.
#[test]
fn task_1_kernels_are_independent_of_the_workgroup_grid() {
    for which in [Which::Add, Which::SiluGate] {
        let text = which.text();
        let gpu = gpu();
        let n = 5 * 64 + 3;
        let a: Vec<f32> = (0..n).map(|i| i as f32 + 1.0).collect();
        let (a, b) = (upload(&gpu, &a), upload(&gpu, &vec![1.0; n]));
        let mut answers = Vec::new();
        for groups in [[6, 1, 1], [3, 2, 1], [2, 4, 1], [1, 6, 1]] {
            let found = run(&gpu, n + 200, which, &[n as u32], &[&a, &b], groups);
            answers.push(found);
        }
        for (found, groups) in answers.iter().zip(["6 × 1", "3 × 2", "2 × 4", "1 × 6"]) {
            let behind = found[n..].iter().position(|&x| x != UNTOUCHED);
            assert!(
                behind.is_none(),
                "{}, {groups} workgroups: output {} was written, but the kernel has only {n} \
                 outputs. Compare the index with sizes.n",
                which.name(),
                n + behind.unwrap_or_default()
            );
            let wrong = found.iter().zip(&answers[0]).position(|(x, y)| x != y);
            assert!(
                wrong.is_none(),
                "{}: output {} depends on the workgroup grid: {groups} and 6 × 1 give different \
                 values. Number all threads of one row of workgroups before those of the next \
                 row\n{}",
                which.name(),
                wrong.unwrap_or_default(),
                text.0.lines().filter(|line| line.contains("let i")).collect::<String>()
            );
        }
        const { assert!(THREADS == 64, "a workgroup has 64 threads") };
    }
}

/// An error in WGSL is reported with its line. A correct kernel is compiled only once.
#[test]
fn task_1_kernels_compile_once_and_errors_name_the_cause() {
    let gpu = gpu();
    let kernels = Kernels::new(&gpu);
    let kernel = assert_good("add", || kernels.get(Which::Add));
    let again = assert_good("add", || kernels.get(Which::Add));
    assert!(
        std::sync::Arc::ptr_eq(&kernel, &again),
        "add was compiled twice, expected once: keep compiled kernels"
    );
    let (text, reads) = Which::Add.text();
    let broken = text.replacen("id.x", "id.q", 1);
    let error = gpu
        .kernel("broken", &broken, reads)
        .expect_err("a kernel with `id.q` must be refused")
        .to_string();
    assert!(
        error.contains("id.q") && error.contains("wgsl:"),
        "the error must contain `id.q` and `wgsl:`, but it is: {error}"
    );
    let buffer = assert_good("a buffer", || gpu.upload(bytes_of(&[1.0])));
    let mut pass = gpu.pass();
    let error = pass
        .run(&kernel, &[1], &[&buffer], &buffer, [1, 1, 1])
        .expect_err("a pass with a missing buffer must be refused");
    assert!(
        error.to_string().contains("buffers to read: found 1"),
        "the error must contain `buffers to read: found 1`, but it is: {error}"
    );
}
