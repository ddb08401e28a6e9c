//! Week 4, day 6: experts, sinks, windows.
//!
//! Expected values are those of transformers' Qwen3-MoE and gpt-oss:
//! `python-ref/oracle/week4_day6.py`.

use tiny_llm::week2::{
    kernels::Rung,
    parallel::Team,
    plan::{AttentionKind, Plan},
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::Part,
    fixtures::{Case, Fixtures},
};

use task_1::task_1_route_matches_transformers;
use task_2::task_2_group_lists_assignments_by_expert;
use task_3::task_3_softmax_with_sink_matches_pytorch;
use task_4::task_4_visible_matches_transformers;

#[cfg(feature = "fresh")]
#[path = "fresh/week4_day6.rs"]
mod fresh;
#[path = "week4_day6/task_1.rs"]
mod task_1;
#[path = "week4_day6/task_2.rs"]
mod task_2;
#[path = "week4_day6/task_3.rs"]
mod task_3;
#[path = "week4_day6/task_4.rs"]
mod task_4;
#[path = "week4_day6/whole.rs"]
mod whole;

const ROUTES: &Part = &Part {
    task: "week4-day6 task 1",
    what: "the router",
    check: task_1_route_matches_transformers,
};
const GROUPS: &Part = &Part {
    task: "week4-day6 task 2",
    what: "the groups",
    check: task_2_group_lists_assignments_by_expert,
};
const SINKS: &Part = &Part {
    task: "week4-day6 task 3",
    what: "sinks",
    check: task_3_softmax_with_sink_matches_pytorch,
};
const WINDOWS: &Part = &Part {
    task: "week4-day6 task 4",
    what: "what a row sees",
    check: task_4_visible_matches_transformers,
};

/// Calls `check` with every case whose name begins with `prefix`.
fn each(prefix: &str, mut check: impl FnMut(&Case)) {
    let fixtures = Fixtures::open("week4_day6");
    for name in fixtures.cases(prefix) {
        check(&fixtures.case(&name));
    }
}

/// Returns the window of a case, where 0 represents none.
fn window(case: &Case) -> Option<usize> {
    Some(case.count("window")).filter(|&n| n > 0)
}

fn flag(case: &Case, name: &str) -> bool {
    case.value(name).as_bool().unwrap_or(false)
}

fn flat(values: &[f32]) -> Tensor {
    tensor(&[values.len()], values.to_vec())
}

fn numbers(x: &Tensor) -> Vec<f32> {
    x.iter().copied().collect()
}

/// Returns the simplest plan.
fn plan() -> Plan {
    Plan { kernels: Rung::Naive.into(), attention: AttentionKind::Streaming, team: Team::new(1) }
}
