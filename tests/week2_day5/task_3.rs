//! Week 2, day 5, task 3: integer weights with integer activations.

use super::products::super_blocks;
use tiny_llm::week2::{
    input::{BLOCK, SUPER_BLOCK},
    kernels::integer,
};
use tiny_llm_formats::tensor::tensor;

use super::{columns, fixtures, of_rows, ones};

/// Checks that tiny scales only make the products tiny.
#[track_caller]
fn check_of_any_size(name: &str, dot: integer::Dot) {
    let case = fixtures().case(&format!("task_3_dot/{name}"));
    let scales = case.numbers("scales");
    let x = super_blocks(&case.numbers("values"), &scales);
    let factor = 2f32.powi(-40);
    let tiny: Vec<f32> = scales.iter().map(|scale| scale * factor).collect();
    let tiny = super_blocks(&case.numbers("values"), &tiny);
    of_rows(&case, |row| {
        let (found, expected) = (dot(row, &tiny), dot(row, &x) * factor);
        assert!(
            (found - expected).abs() <= 1e-6 * expected.abs(),
            "the integer product of a row in {name} and activations with scales multiplied by \
             2⁻⁴⁰: found {found:e}, expected {expected:e}, 2⁻⁴⁰ times the original product: keep \
             scales and their products in f32"
        );
        found
    });
}

#[test]
fn task_3_tiny_activation_scales() {
    check_of_any_size("Q4_0", integer::dot_q4_0);
    check_of_any_size("Q4_K", integer::dot_q4_k);
    check_of_any_size("Q6_K", integer::dot_q6_k);
}

#[test]
fn task_3_dot_q4_0_of_64_blocks() {
    let found = integer::dot_q4_0(&ones(), &super_blocks(&[1.0; 2048], &[1.0; 64]));
    assert!(
        found == 2048.0,
        "dot_q4_0 of 2048 weights of 1 and activations of 1: found {found}, expected 2048"
    );
}

#[track_caller]
fn check_integer_each(name: &str, dot: integer::Dot) {
    let case = fixtures().case(&format!("task_3_each/{name}"));
    let row = case.bytes("row");
    let cols = columns(name, &row);
    let one_at = |i: usize| {
        let mut values = vec![0.0; cols.next_multiple_of(SUPER_BLOCK)];
        values[i] = 1.0;
        dot(
            &row,
            &super_blocks(&values, &vec![1.0; cols.div_ceil(SUPER_BLOCK) * SUPER_BLOCK / BLOCK]),
        )
    };
    case.check("weights", &tensor(&[cols], (0..cols).map(one_at).collect()));
}

#[track_caller]
fn check_integer(name: &str, dot: integer::Dot) {
    check_integer_each(name, dot);
    for part in ["dot", "largest"] {
        let case = fixtures().case(&format!("task_3_{part}/{name}"));
        let x = super_blocks(&case.numbers("values"), &case.numbers("scales"));
        case.check("products", &of_rows(&case, |row| dot(row, &x)));
    }
}

#[test]
fn task_3_dot_q4_0() {
    check_integer("Q4_0", integer::dot_q4_0);
}

#[test]
fn task_3_dot_q4_k() {
    check_integer("Q4_K", integer::dot_q4_k);
}

#[test]
fn task_3_dot_q6_k() {
    check_integer("Q6_K", integer::dot_q6_k);
}

/// The two provided functions. They are examples, and must stay right if the learner experiments
/// with them.
#[test]
fn task_3_provided_dot_q8_0_and_dot_q5_0() {
    // Like all tests of this task, this one fails until the task is written.
    let _ = integer::dot_q4_0(&ones(), &super_blocks(&[1.0; 2048], &[1.0; 64]));
    check_integer("Q8_0", integer::dot_q8_0);
    check_integer("Q5_0", integer::dot_q5_0);
}
