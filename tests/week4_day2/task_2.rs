//! Week 4, day 2, task 2: an order.

use std::collections::HashSet;

use tiny_llm::week4::{
    graph::{Graph, NodeId},
    layout::Layout,
    op::Op,
};
use tiny_llm_formats::gguf::TensorType::F32;
use tiny_llm_harness::check::{assert_accepts, assert_answer};

use super::leaf;

/// Returns a graph in which node `i` reads the nodes `sources[i]`. A node without sources is a
/// leaf. The operations do not check their sources.
fn graph(sources: &[&[usize]]) -> (Graph, Vec<NodeId>) {
    let mut g = Graph::default();
    let mut ids = Vec::new();
    let layout = Layout { tensor_type: F32, ne: [1; 4], nb: [4; 4], offset: 0 };
    for list in sources {
        let list: Vec<NodeId> = list.iter().map(|&i| ids[i]).collect();
        let op = if list.is_empty() { Op::Values(vec![0.0]) } else { Op::Add };
        ids.push(g.push(op, &list, layout).expect("push must accept earlier nodes as sources"));
    }
    (g, ids)
}

/// Checks that the order has each node of `needed` once, after its sources, and no other node.
#[track_caller]
fn sound(what: &str, g: &Graph, results: &[NodeId], needed: &[usize]) {
    let order = assert_accepts(what, || g.order(results));
    let numbers: Vec<usize> = order.iter().map(|id| id.index()).collect();
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    assert_answer(
        &format!("{what}: the nodes of the order {numbers:?}, sorted"),
        &sorted,
        &needed.to_vec(),
    );
    let mut done = HashSet::new();
    for &id in &order {
        let missing = g.node(id).sources.iter().find(|source| !done.contains(*source));
        assert!(
            missing.is_none(),
            "{what}: in the order {numbers:?}, node {} comes before node {}, which it reads",
            id.index(),
            missing.map_or(0, |id| id.index())
        );
        done.insert(id);
    }
}

type Line = (&'static str, &'static [&'static [usize]], &'static [usize], &'static [usize]);

const LINES: [Line; 11] = [
    ("a leaf alone", &[&[]], &[0], &[0]),
    ("a chain", &[&[], &[0], &[1]], &[2], &[0, 1, 2]),
    ("a node read by two others", &[&[], &[0], &[0], &[1, 2]], &[3], &[0, 1, 2, 3]),
    ("a node read twice by one other", &[&[], &[0, 0]], &[1], &[0, 1]),
    ("the guide's graph", &[&[], &[], &[0, 1], &[0], &[3], &[4, 2]], &[5], &[0, 1, 2, 3, 4, 5]),
    ("a node that is not needed", &[&[], &[], &[0], &[1], &[2]], &[4], &[0, 2, 4]),
    ("a result in the middle", &[&[], &[0], &[1], &[2]], &[1], &[0, 1]),
    ("two results with nothing in common", &[&[], &[], &[0], &[1]], &[2, 3], &[0, 1, 2, 3]),
    ("two results, one of which reads the other", &[&[], &[0], &[1]], &[2, 1], &[0, 1, 2]),
    ("a first source that reads the second one", &[&[], &[0], &[1], &[2, 1]], &[3], &[0, 1, 2, 3]),
    (
        "a long path and a short one: a residual",
        &[&[], &[0], &[1], &[2], &[0, 3], &[4], &[4, 5]],
        &[6],
        &[0, 1, 2, 3, 4, 5, 6],
    ),
];

#[test]
pub(super) fn task_2_order_puts_sources_first() {
    for (why, sources, results, needed) in LINES {
        let (g, ids) = graph(sources);
        let results: Vec<NodeId> = results.iter().map(|&i| ids[i]).collect();
        sound(&format!("{why}: {sources:?}, results {results:?}"), &g, &results, needed);
    }
}

#[test]
fn task_2_leaves_returns_nodes_without_sources() {
    let (g, ids) = graph(&[&[], &[], &[0, 1], &[], &[2, 0]]);
    let order = vec![ids[1], ids[0], ids[2], ids[4]];
    let leaves = assert_accepts("leaves", || g.leaves(&order));
    let numbers: Vec<usize> = leaves.iter().map(|id| id.index()).collect();
    assert_answer("leaves of the order 1, 0, 2, 4, in the same order", &numbers, &vec![1, 0]);
}

/// 2⁶⁰ paths lead from the last node to the leaf. A search of all paths would never end.
#[test]
fn task_2_order_visits_each_node_once() {
    let mut g = Graph::default();
    let mut x = leaf(&mut g, &[1]);
    let layout = g.layout(x);
    for _ in 0..60 {
        x = g.push(Op::Add, &[x, x], layout).expect("push must accept earlier nodes as sources");
    }
    assert_accepts("order of no results", || g.order(&[]));
    // In a separate thread, so that the test can stop waiting for an endless search.
    let (say, hear) = std::sync::mpsc::channel();
    let (large, last) = (g.clone(), x);
    std::thread::spawn(move || {
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| large.order(&[last])));
        say.send(found).ok();
    });
    match hear.recv_timeout(std::time::Duration::from_secs(20)) {
        Ok(Ok(_)) => {
            sound("sixty sums of a node and itself", &g, &[x], &(0..61).collect::<Vec<_>>());
        }
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => panic!(
            "sixty sums of a node and itself: found no order after 20 seconds. Visit each node \
             only once"
        ),
    }
}

/// 200,000 nodes in a chain, more than a thread's stack has room for in a recursion.
#[test]
fn task_2_order_of_deep_chain_does_not_overflow_the_stack() {
    let (sources, n): (Vec<Vec<usize>>, usize) =
        ((0..200_000usize).map(|i| i.checked_sub(1).into_iter().collect()).collect(), 200_000);
    let sources: Vec<&[usize]> = sources.iter().map(Vec::as_slice).collect();
    let (g, ids) = graph(&sources);
    let order = g.order(&[ids[n - 1]]);
    let found: Vec<usize> = order.iter().map(|id| id.index()).collect();
    assert!(
        found == (0..n).collect::<Vec<_>>(),
        "the order of a chain of {n} nodes must be the chain itself"
    );
}
