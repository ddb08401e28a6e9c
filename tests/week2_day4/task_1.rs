//! Week 2, day 4, task 1: reading Q4_K.

use tiny_llm::week2::blocks::q4_k;

use super::{check_dequantize, check_scales, fixtures};

#[test]
fn task_1_scales_and_minimums() {
    check_scales(&fixtures());
}

#[track_caller]
fn check_q4_k(case: &str) {
    check_scales(&fixtures());
    check_dequantize(&format!("task_1_dequantize/{case}"), q4_k::dequantize);
}

#[test]
fn task_1_dequantize_q4_k_of_integer_weights() {
    check_q4_k("whole");
}

#[test]
fn task_1_dequantize_q4_k_of_random_bytes() {
    check_q4_k("random");
}

#[test]
fn task_1_dequantize_q4_k_of_model_weights() {
    check_q4_k("model");
}
