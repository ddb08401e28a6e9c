//! Models of week 2, with a fixture's weights or with other ones, and the plan that computes them.

#![allow(dead_code, reason = "several days' tests have this module, and use a part of it")]

use tiny_llm::week2::{
    kernels::Rung,
    load::{Rope, build},
    matrix::Matrix,
    model::Model,
    parallel::Team,
    plan::{AttentionKind, Plan},
    rope::RopeLayout,
};
use tiny_llm_formats::config::ModelConfig;
use tiny_llm_harness::{fixtures, fixtures::Case};

/// Builds a model of this configuration. `matrix(name, rows, cols)` returns each weight, and each
/// vector as a single row.
pub(crate) fn from_json(
    config: &str,
    mut matrix: impl FnMut(&str, usize, usize) -> Matrix,
) -> Model {
    let config = ModelConfig::from_json(config, "config.json of the test");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    build(config.expect("a configuration"), &rope, usize::MAX, &mut |name, shape| {
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        Ok(matrix(name, rows, cols))
    })
    .expect("build must find every weight")
}

/// Returns the model of a case. `matrix(rows, cols, values)` converts each weight: for f32 weights,
/// this is [`Matrix::from_f32`].
pub(crate) fn of_case(case: &Case, matrix: impl Fn(usize, usize, &[f32]) -> Matrix) -> Model {
    from_json(&case.value("config").to_string(), |name, rows, cols| {
        matrix(rows, cols, &case.numbers(name))
    })
}

/// Returns a model with random weights: norms near 1, and other weights of up to twice `size`.
pub(crate) fn random(config: &str, size: f32) -> Model {
    let mut seed = 0;
    from_json(config, |name, rows, cols| {
        seed += 1;
        let norm = name.ends_with("norm.weight");
        let number = |x: &f32| if norm { 1.0 + 0.2 * x } else { size * x };
        let numbers: Vec<f32> = fixtures::random(seed, &[rows, cols]).iter().map(number).collect();
        Matrix::from_f32(rows, cols, &numbers)
    })
}

/// Returns a plan that needs no code of week 2's later days.
pub(crate) fn plan() -> Plan {
    Plan { kernels: Rung::Naive.into(), attention: AttentionKind::TwoPass, team: Team::new(1) }
}
