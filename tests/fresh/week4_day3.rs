//! Week 4, day 3, on fresh inputs.

use tiny_llm::week4::{
    arena::Arena,
    graph::{Graph, NodeId},
    lifetimes::{lifetimes, lower_bound},
    planner::MemoryPlan,
};
use tiny_llm_harness::fresh::Fresh;

use super::{graphs::fresh_graph, planned};

/// Returns a [`fresh_graph`], and a result that adds its last node to itself.
fn with_a_result(fresh: &Fresh) -> (Graph, NodeId) {
    let (mut g, ids) = fresh_graph(fresh);
    let last = ids[ids.len() - 1];
    let result = g.add(last, last).expect("a sum");
    (g, result)
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week4-day3 task 1");
    for _ in 0..20 {
        let (g, result) = with_a_result(&fresh);
        let all: Vec<NodeId> = g.ids().collect();
        let lives = lifetimes(&g, &all, &[result]);
        fresh.says("lifetimes", &(lower_bound(&lives), &lives));
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week4-day3 task 2");
    let (mut arena, mut lent) = (Arena::default(), Vec::new());
    for _ in 0..200 {
        if fresh.below(2) == 0 && !lent.is_empty() {
            let (start, bytes) = lent.swap_remove(fresh.below(lent.len()));
            arena.release(start, bytes);
        } else {
            let bytes = 64 * fresh.from_to(1, 9);
            lent.push((arena.allocate(bytes), bytes));
        }
        fresh.says("the arena", &(lent.last(), arena.free_parts(), arena.peak()));
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week4-day3 task 3");
    for _ in 0..20 {
        let (g, result) = with_a_result(&fresh);
        let all: Vec<NodeId> = g.ids().collect();
        for over in [false, true] {
            let memory = MemoryPlan::new(&g, &all, &[result], over).expect("a sound plan");
            fresh.says("a plan", &memory);
            let found = planned(&g, &all, &[result], &memory);
            let size = found.iter().fold(1f32, |m, x| m.max(x.abs()));
            let scaled: Vec<f32> = found.iter().map(|x| x / size).collect();
            fresh.answers("its result over its size", &scaled, 1e-3);
        }
    }
}
