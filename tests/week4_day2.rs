//! Week 4, day 2: nodes, their order, how they are computed, models as graphs, and a drawing.
//!
//! Expected numbers are PyTorch's: `python-ref/oracle/week4_day2.py`. A model's logits are compared
//! bit for bit with week 2's engine.

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::Rung,
        matrix::Matrix,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
    },
    week4::{
        execute::Executor,
        graph::{Graph, NodeId},
    },
};
use tiny_llm_formats::Tensor;
use tiny_llm_harness::{allocations::CountingAllocator, check::Part, messages::assert_good};

use task_1::task_1_nodes_have_operation_sources_and_layout;
use task_2::task_2_order_puts_sources_first;
use task_3::task_3_graphs_match_pytorch;

#[cfg(feature = "fresh")]
#[path = "fresh/week4_day2.rs"]
mod fresh;
#[path = "parts/graphs.rs"]
mod graphs;
#[path = "parts/models.rs"]
mod models;
#[path = "week4_day2/task_1.rs"]
mod task_1;
#[path = "week4_day2/task_2.rs"]
mod task_2;
#[path = "week4_day2/task_3.rs"]
mod task_3;
#[path = "week4_day2/task_4.rs"]
mod task_4;
#[path = "week4_day2/task_5.rs"]
mod task_5;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const NODES: &Part = &Part {
    task: "week4-day2 task 1",
    what: "nodes",
    check: task_1_nodes_have_operation_sources_and_layout,
};
const ORDER: &Part =
    &Part { task: "week4-day2 task 2", what: "the order", check: task_2_order_puts_sources_first };
const EXECUTION: &Part =
    &Part { task: "week4-day2 task 3", what: "execution", check: task_3_graphs_match_pytorch };

/// Returns small whole numbers, of which no two adjacent ones are equal.
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i * 7 % 11) as f32 - 4.0).collect()
}

/// Adds a leaf with the values of [`numbers`].
fn leaf(graph: &mut Graph, sizes: &[usize]) -> NodeId {
    let values = numbers(sizes.iter().product());
    assert_good(&format!("values of {sizes:?}"), || graph.values(sizes, &values))
}

/// Adds a leaf with the values of a tensor, whose shape is in PyTorch's order.
fn given(graph: &mut Graph, x: &Tensor) -> NodeId {
    let sizes: Vec<usize> = x.shape().iter().rev().copied().collect();
    let values: Vec<f32> = x.iter().copied().collect();
    assert_good(&format!("values of {sizes:?}"), || graph.values(&sizes, &values))
}

/// Adds a weight with the values of a tensor.
fn weight(graph: &mut Graph, x: &Tensor) -> NodeId {
    let values: Vec<f32> = x.iter().copied().collect();
    let matrix = Matrix::from_f32(x.shape()[0], x.shape()[1], &values);
    assert_good("a weight", || graph.weight(&matrix))
}

fn plan(kernels: Rung, threads: usize) -> Plan {
    Plan { kernels: kernels.into(), attention: AttentionKind::TwoPass, team: Team::new(threads) }
}

/// Computes the nodes in `order` in a pass of one row on an empty cache.
fn run(executor: &mut Executor, graph: &Graph, order: &[NodeId], plan: &Plan) {
    graphs::pass(1, plan, |step| executor.run(graph, order, step));
}

/// Returns all nodes in the order of creation, where sources come before the nodes that read them.
fn as_made(graph: &Graph) -> Vec<NodeId> {
    graph.ids().collect()
}

fn cache_of(model: &Model, sequences: usize) -> DenseCache {
    let c = &model.config;
    let shape = CacheShape::of(c, sequences, c.max_positions);
    DenseCache::new(shape, CacheType::F16)
}
