//! Week 4, day 3: lifetimes, an arena, and a plan that puts a graph's nodes into it.
//!
//! Expected lifetimes, places and numbers: `python-ref/oracle/week4_day3.py`.

use tiny_llm::week4::{
    execute::Executor,
    graph::{Graph, NodeId},
    planned::PlannedExecutor,
    planner::MemoryPlan,
};
use tiny_llm_harness::{
    allocations::CountingAllocator,
    check::Part,
    fixtures::{Case, Fixtures},
};

use models::plan;
use task_1::task_1_lifetimes_have_expected_first_and_last_steps;
use task_2::task_2_allocate_and_release_track_free_parts_and_peak;

#[cfg(feature = "fresh")]
#[path = "fresh/week4_day3.rs"]
mod fresh;
#[path = "parts/graphs.rs"]
mod graphs;
#[path = "parts/models.rs"]
mod models;
#[path = "parts/story.rs"]
mod story;
#[path = "week4_day3/task_1.rs"]
mod task_1;
#[path = "week4_day3/task_2.rs"]
mod task_2;
#[path = "week4_day3/task_3.rs"]
mod task_3;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const LIVES: &Part = &Part {
    task: "week4-day3 task 1",
    what: "lifetimes",
    check: task_1_lifetimes_have_expected_first_and_last_steps,
};
const ARENA: &Part = &Part {
    task: "week4-day3 task 2",
    what: "the arena",
    check: task_2_allocate_and_release_track_free_parts_and_peak,
};

/// Calls `check` with every case whose name begins with `prefix`.
fn each(prefix: &str, check: impl Fn(&Case)) {
    let fixtures = Fixtures::open("week4_day3");
    for name in fixtures.cases(prefix) {
        check(&fixtures.case(&name));
    }
}

/// Returns the whole numbers of a value, which is a list or a single number.
fn list(value: &impl ToString) -> Vec<usize> {
    let text = value.to_string();
    let numbers = text.trim_matches(['[', ']']).split(',').filter(|n| !n.is_empty());
    numbers.map(|n| n.trim().parse().expect("a number")).collect()
}

/// Returns the graph of a case, its nodes in the order in which they are computed, and its results.
fn graph_of(case: &Case) -> (Graph, Vec<NodeId>, Vec<NodeId>) {
    let mut g = Graph::default();
    let mut ids: Vec<NodeId> = Vec::new();
    for node in case.value("nodes").as_array().expect("a list") {
        let sources: Vec<NodeId> = list(&node["sources"]).into_iter().map(|i| ids[i]).collect();
        let shape = list(&node["shape"]);
        let made = match (node["op"].as_str().expect("a name"), &sources[..]) {
            ("values", _) => {
                let x = case.tensor(&format!("x{}", node["numbers"]));
                g.values(&shape, &x.iter().copied().collect::<Vec<_>>())
            }
            ("add", &[a, b]) => g.add(a, b),
            ("mul_mat", &[a, b]) => g.mul_mat(a, b),
            ("reshape", &[a]) => g.reshape(a, &shape),
            ("permute", &[a]) => g.permute(a, [1, 0, 2, 3]),
            ("contiguous", &[a]) => g.contiguous(a),
            other => panic!("no operation {other:?}"),
        };
        ids.push(made.expect("the graph's builder must accept this node"));
    }
    let results = list(case.value("results")).into_iter().map(|i| ids[i]).collect();
    (g, ids, results)
}

/// Returns the results of a graph that is computed with a buffer for each node.
fn unplanned(g: &Graph, order: &[NodeId], results: &[NodeId]) -> Vec<f32> {
    let mut executor = Executor::default();
    graphs::pass(1, &plan(), |step| executor.run(g, order, step));
    results.iter().flat_map(|&id| executor.values(g, id).to_vec()).collect()
}

/// Computes a graph in one arena, fills that with NaN, and computes again. Returns the results.
fn planned(g: &Graph, order: &[NodeId], results: &[NodeId], memory: &MemoryPlan) -> Vec<f32> {
    let mut executor = PlannedExecutor::default();
    graphs::pass(1, &plan(), |step| executor.run(g, order, memory, step));
    executor.poison();
    graphs::pass(1, &plan(), |step| executor.run(g, order, memory, step));
    results.iter().flat_map(|&id| executor.values(g, memory, id).to_vec()).collect()
}
