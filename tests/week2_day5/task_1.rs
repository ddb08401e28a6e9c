//! Week 2, day 5, task 1: in f32.

use tiny_llm::week2::kernels::fused;
use tiny_llm_formats::tensor::tensor;

use super::{columns, fixtures, of_rows, ones};

/// Checks a row's weights one at a time, with activations of which only one is not 0.
#[track_caller]
fn check_each(name: &str, dot: fused::Dot) {
    let case = fixtures().case(&format!("task_1_each/{name}"));
    let row = case.bytes("row");
    let cols = columns(name, &row);
    let one_at = |i: usize| {
        let mut x = vec![0.0; cols];
        x[i] = 1.0;
        dot(&row, &x)
    };
    case.check("weights", &tensor(&[cols], (0..cols).map(one_at).collect()));
}

#[track_caller]
fn check_dot(name: &str, dot: fused::Dot) {
    check_each(name, dot);
    let case = fixtures().case(&format!("task_1_dot/{name}"));
    let x = case.numbers("x");
    case.check("products", &of_rows(&case, |row| dot(row, &x)));
}

#[test]
fn task_1_dot_q4_0() {
    check_dot("Q4_0", fused::dot_q4_0);
}

#[test]
fn task_1_dot_q4_k() {
    check_dot("Q4_K", fused::dot_q4_k);
}

#[test]
fn task_1_dot_q6_k() {
    check_dot("Q6_K", fused::dot_q6_k);
}

#[test]
fn task_1_dot_q4_0_of_64_blocks() {
    let found = fused::dot_q4_0(&ones(), &[1.0; 2048]);
    assert!(
        found == 2048.0,
        "dot_q4_0 of 2048 weights of 1 and activations of 1: found {found}, expected 2048"
    );
}

/// The two provided functions. They are examples, and must stay right if the learner experiments
/// with them.
#[test]
fn task_1_provided_dot_q8_0_and_dot_q5_0() {
    // Like all tests of this task, this one fails until the task is written.
    let _ = fused::dot_q4_0(&ones(), &[1.0; 2048]);
    check_dot("Q8_0", fused::dot_q8_0);
    check_dot("Q5_0", fused::dot_q5_0);
}
