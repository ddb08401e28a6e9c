//! Week 4, day 4: backends, placement of nodes, copies, and weights in place.
//!
//! Expected placements, splits and numbers: `python-ref/oracle/week4_day4.py`.

use tiny_llm::{
    week2::matrix::Matrix,
    week4::{
        backend::Backend,
        execute::Executor,
        graph::{Graph, NodeId},
        layout::Layout,
        op::Op,
        scheduler::{Ready, Scheduler},
        split::Schedule,
        step::{AnyStep, Step},
        twin::Twin,
    },
};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::{
    allocations::CountingAllocator,
    check::Part,
    fixtures::{Case, Fixtures, Json as Value},
};

use models::plan;
use task_1::task_1_compute_matches_pytorch_with_any_buffer_sharing;
use task_2::task_2_pin_returns_expected_backends;
use task_3::task_3_fewest_copies_returns_expected_placements;
use task_4::{task_4_schedule_has_expected_splits_and_copies, task_4_view_of_a_leaf_is_not_copied};

#[cfg(feature = "fresh")]
#[path = "fresh/week4_day4.rs"]
mod fresh;
#[path = "parts/graphs.rs"]
mod graphs;
#[path = "parts/models.rs"]
mod models;
#[path = "parts/story.rs"]
mod story;
#[path = "week4_day4/task_1.rs"]
mod task_1;
#[path = "week4_day4/task_2.rs"]
mod task_2;
#[path = "week4_day4/task_3.rs"]
mod task_3;
#[path = "week4_day4/task_4.rs"]
mod task_4;
#[path = "week4_day4/task_5.rs"]
mod task_5;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const CPU: &Part = &Part {
    task: "week4-day4 task 1",
    what: "the processor as a backend",
    check: task_1_compute_matches_pytorch_with_any_buffer_sharing,
};
const PINS: &Part = &Part {
    task: "week4-day4 task 2",
    what: "pinned nodes",
    check: task_2_pin_returns_expected_backends,
};
const CUT: &Part = &Part {
    task: "week4-day4 task 3",
    what: "the fewest copies",
    check: task_3_fewest_copies_returns_expected_placements,
};
const SPLITS: &Part = &Part {
    task: "week4-day4 task 4",
    what: "splits and copies",
    check: || {
        task_4_schedule_has_expected_splits_and_copies();
        task_4_view_of_a_leaf_is_not_copied();
    },
};

const ONE_VIEW_BACK: &str = "\n  diagnosis You follow a view only to its source, which may \
                             itself be a view. Call `graph.root` to follow all views.";

/// Calls `check` with every case whose name begins with `prefix`.
fn each(prefix: &str, check: impl Fn(&Case)) {
    let fixtures = Fixtures::open("week4_day4");
    for name in fixtures.cases(prefix) {
        check(&fixtures.case(&name));
    }
}

/// Returns the whole numbers of a list.
fn list(value: &Value) -> Vec<usize> {
    let numbers = value.as_array().expect("a list").iter();
    numbers.map(|n| n.as_u64().expect("a whole number") as usize).collect()
}

/// Returns indices of backends. In the fixtures, −1 represents None.
fn backends(value: &Value) -> Vec<Option<usize>> {
    let numbers = value.as_array().expect("a list").iter();
    numbers.map(|n| n.as_u64().map(|n| n as usize)).collect()
}

/// Returns `n` numbers from a sequence of 13 different ones, none of which is 0.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 5 + seed * 3) % 13) as f32 / 8.0 - 0.8).collect()
}

/// Returns the graph of a case. Node `i` is named `ni`.
fn graph_of(case: &Case) -> (Graph, Vec<NodeId>) {
    let mut g = Graph::default();
    let mut ids: Vec<NodeId> = Vec::new();
    for node in case.value("nodes").as_array().expect("a list") {
        let sources: Vec<NodeId> = list(&node["sources"]).into_iter().map(|i| ids[i]).collect();
        let shape = node.get("shape").map(list);
        let (seed, layer) = (ids.len(), node["layer"].as_u64().unwrap_or(0) as usize);
        let made = match (node["op"].as_str().expect("a name"), &sources[..]) {
            ("values", _) => {
                let shape = shape.unwrap_or(vec![4, 2]);
                let given = node["numbers"].as_u64().map(|i| case.tensor(&format!("x{i}")));
                let given = given.map(|x| x.iter().copied().collect());
                g.values(&shape, &given.unwrap_or_else(|| numbers(shape.iter().product(), seed)))
            }
            ("weight", _) => {
                let [cols, rows] = shape.map_or([4, 4], |s| [s[0], s[1]]);
                g.weight(&Matrix::from_f32(rows, cols, &numbers(rows * cols, seed)))
            }
            ("tokens", _) => g.tokens(2),
            ("embed", &[table, tokens]) => g.embed(table, tokens),
            ("add", &[a, b]) => g.add(a, b),
            ("mul_mat", &[a, b]) => g.mul_mat(a, b),
            ("reshape", &[a]) => g.reshape(a, &shape.expect("sizes")),
            ("permute", &[a]) => g.permute(a, [1, 0, 2, 3]),
            ("contiguous", &[a]) => g.contiguous(a),
            ("rms_norm", &[x, weight]) => {
                let layout = Layout::new(TensorType::F32, &g.layout(x).ne).expect("sizes");
                g.push(Op::RmsNorm { eps: 1e-3 }, &[x, weight], layout)
            }
            ("rope", &[x]) => g.rope(x),
            ("silu_gate", &[gate, up]) => g.silu_gate(gate, up),
            ("store", &[k, v]) => g.store(layer, k, v),
            ("attend", &[q, stored]) => g.attend(layer, q, stored),
            ("wanted", &[x]) => g.wanted(x, 1),
            (other, _) => panic!("no operation {other:?}"),
        };
        let id = made.expect("the graph's builder must accept this node");
        ids.push(g.named(id, &format!("n{seed}")));
    }
    (g, ids)
}

/// Calls `run` with a pass of two rows on an empty cache of two layers.
fn pass<T>(run: impl FnOnce(&mut AnyStep<'_>) -> T) -> T {
    graphs::pass(2, &plan(), |Step { rows, cache, plan, rope }| {
        run(&mut Step { rows, cache: &mut **cache, plan, rope: *rope })
    })
}

/// Returns the results of day 2's executor, which has a buffer for each node.
fn unplanned(g: &Graph, results: &[NodeId]) -> Vec<f32> {
    let mut executor = Executor::default();
    graphs::pass(2, &plan(), |step| executor.run(g, &g.order(results), step));
    results.iter().flat_map(|&id| executor.values(g, id).to_vec()).collect()
}

/// Runs a schedule on as many twins as it needs. Returns its results.
fn on_twins(schedule: Schedule) -> (Vec<f32>, Scheduler, Ready) {
    let n = schedule.splits.iter().map(|split| split.backend + 1).max().unwrap_or(1);
    let twins = (0..n).map(|_| Box::new(Twin::default()) as Box<dyn Backend>);
    let mut scheduler = Scheduler::new(twins.collect());
    let ready = scheduler.load(schedule).expect("load must accept the schedule");
    let found = results_of(&mut scheduler, &ready);
    (found, scheduler, ready)
}

fn results_of(scheduler: &mut Scheduler, ready: &Ready) -> Vec<f32> {
    pass(|step| scheduler.run(ready, step))
        .unwrap_or_else(|e| panic!("a pass must succeed, but it failed: {e:#}"));
    let Schedule { graph, results, .. } = &ready.schedule;
    let mut found = Vec::new();
    for (i, &result) in results.iter().enumerate() {
        let mut one = vec![0.0; graph.layout(result).elements()];
        scheduler
            .read(ready, i, &mut one)
            .expect("read must return the numbers of a computed node");
        found.extend(one);
    }
    found
}

/// Returns the bits of numbers. NaNs count as equal: their other bits depend on the processor.
fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
}

/// Returns a random graph of four-by-four matrices, its results, and its random number generator.
fn random_graph(seed: u64) -> (Graph, Vec<NodeId>, impl FnMut(usize) -> usize) {
    graphs::random_graph(seed, 12, move |i| numbers(16, (seed % 97) as usize + i))
}

fn is_computed(g: &Graph, id: NodeId) -> bool {
    let op = &g.node(id).op;
    !op.is_leaf() && !op.is_view()
}
