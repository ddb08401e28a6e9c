//! Week 4, day 3, task 3: a plan.

use tiny_llm::{
    week2::{
        kernels::Rung,
        model::Workspace,
        plan::{AttentionKind, Plan},
    },
    week4::{
        by_size::lifetimes_of_parts,
        engine::{Built, GraphEngine},
        graph::{Graph, NodeId},
        lifetimes::{lifetimes, lower_bound, without_reuse},
        llama::PassShape,
        planner::MemoryPlan,
    },
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    allocations::count,
    check::{PanicReport, assert_answer, assert_returns, resting_on},
    fixtures::Case,
    panics::{self, Panic},
};

use super::{
    ARENA, LIVES, each, graph_of,
    graphs::random_graph,
    list, plan, planned,
    story::{cache_for, rows, story},
    unplanned,
};

/// Returns a diagnosis for a panic while a plan is created or run.
fn of_a_plan(panic: &Panic) -> Option<PanicReport> {
    if panic.place.contains("arena.rs") && gives_back_twice() {
        let twice = "Your `place` releases a part twice. If a new node takes over a part, don't \
            release it for the old node.";
        return Some(PanicReport { diagnosis: Some(twice), ..PanicReport::default() });
    }
    let refused = panic.message().contains("does not overwrite its source");
    (panic.place.contains("planned.rs") || refused).then_some(PanicReport {
        lead: "your plan can't be run: the provided executor",
        diagnosis: None,
    })
}

/// Returns whether the arena rejects a release in a chain of sums that are computed in place,
/// although the plan is right if each sum has its own part. In this chain, only the part that the
/// next sum takes over can be released twice.
fn gives_back_twice() -> bool {
    let mut g = Graph::default();
    let x = g.values(&[16], &[1.0; 16]).expect("values must accept these numbers");
    let mut order = vec![x];
    for i in 0..3 {
        order.push(g.add(order[i], x).expect("add must accept these nodes"));
    }
    // The first sum reads only a leaf. Only the other two have a source with a part.
    let made = |over| panics::catch(|| MemoryPlan::new(&g, &order, &order[3..], over));
    made(false).is_ok_and(|plan| plan.is_ok_and(|plan| plan.peak == 128))
        && made(true).is_err_and(|panic| panic.place.contains("arena.rs"))
}

#[track_caller]
fn make(what: &str, g: &Graph, order: &[NodeId], results: &[NodeId], over: bool) -> MemoryPlan {
    let made = assert_returns(what, || MemoryPlan::new(g, order, results, over), of_a_plan);
    made.unwrap_or_else(|e| panic!("{what}: expected a valid plan, but it was refused: {e:#}"))
}

/// Returns the node, start and length of each part, and the peak.
fn seen(memory: &MemoryPlan) -> (Vec<[usize; 3]>, usize) {
    let parts = memory.parts.iter().enumerate();
    let parts = parts.filter_map(|(i, part)| part.as_ref().map(|p| [i, p.start, p.len()]));
    (parts.collect(), memory.peak)
}

fn expected(case: &Case, which: &str) -> (Vec<[usize; 3]>, usize) {
    let parts = case.value(which).as_array().expect("a list").iter();
    let parts = parts.map(|part| list(part).try_into().expect("three numbers")).collect();
    (parts, list(case.value(&format!("{which}_peak")))[0])
}

#[test]
fn task_3_plan_has_expected_parts_and_peak() {
    each("task_3_graph/", |case| {
        resting_on(&[LIVES, ARENA], || {
            let (g, order, results) = graph_of(case);
            for (over, which) in [(false, "plain"), (true, "over")] {
                let how = if over { "in place" } else { "not in place" };
                let what = format!(
                    "{}, {how}: [node, start, bytes] of each part, then the peak",
                    case.name()
                );
                let memory = make(&what, &g, &order, &results, over);
                assert_answer(&what, &seen(&memory), &expected(case, which));
            }
        });
    });
}

#[test]
fn task_3_planned_results_match_pytorch() {
    each("task_3_graph/", |case| {
        resting_on(&[LIVES, ARENA], || {
            let (g, order, results) = graph_of(case);
            for over in [false, true] {
                let memory = make(case.name(), &g, &order, &results, over);
                let what = format!("{}, in place: {over}", case.name());
                let run = || planned(&g, &order, &results, &memory);
                let found = assert_returns(&what, run, of_a_plan);
                case.check("results", &tensor(&[found.len()], found));
            }
        });
    });
}

/// A part of sixteen numbers has 64 bytes.
#[test]
fn task_3_plan_reuses_the_part_of_an_unread_node() {
    resting_on(&[LIVES, ARENA], || {
        let mut g = Graph::default();
        let x = g.values(&[16], &[1.0; 16]).expect("values must accept these numbers");
        let [unread, read] = [0; 2].map(|_| g.add(x, x).expect("add must accept these nodes"));
        let sum = g.add(read, x).expect("add must accept these nodes");
        let last = g.add(sum, x).expect("add must accept these nodes");
        let what = "a sum that is never read, two other sums and the result: [node, start, bytes] \
                    of each part, then the peak";
        let memory = make(what, &g, &[x, unread, read, sum, last], &[last], false);
        let [unread, read, sum, last] = [unread, read, sum, last].map(NodeId::index);
        let parts = vec![[unread, 0, 64], [read, 0, 64], [sum, 64, 64], [last, 0, 64]];
        let expected = (parts, 128);
        assert_answer(what, &seen(&memory), &expected);
    });
}

#[test]
fn task_3_plan_writes_in_place_over_the_root_of_a_view() {
    resting_on(&[LIVES, ARENA], || {
        let mut g = Graph::default();
        let x = g.values(&[16], &[1.0; 16]).expect("values must accept these numbers");
        let sum = g.add(x, x).expect("add must accept these nodes");
        let view = g.reshape(sum, &[4, 4]).expect("reshape must accept these sizes");
        let norm =
            g.rms_norm(view, &[0.5, 1.0, -2.0, 1.5], 1e-3).expect("rms_norm must accept this node");
        let what =
            "a norm of a view of a sum, in place: [node, start, bytes] of each part, then the peak";
        let memory = make(what, &g, &g.order(&[norm]), &[norm], true);
        let expected = (vec![[sum.index(), 0, 64], [norm.index(), 0, 64]], 64);
        assert!(
            seen(&memory) == expected && memory.in_place == 1,
            "{what}, then the number of nodes in place: found {:?}, {}, expected {expected:?}, 1. \
             The norm may be written over the sum",
            seen(&memory),
            memory.in_place
        );
    });
}

fn small(seed: usize) -> Vec<f32> {
    (0..16).map(|i| ((i * 5 + seed) % 7) as f32 / 8.0 - 0.25).collect()
}

/// A graph has the same results with and without a plan, bit for bit, even if unwritten memory is
/// NaN.
#[test]
fn task_3_plan_does_not_change_results_of_random_graphs() {
    resting_on(&[LIVES, ARENA], || {
        for seed in 0..100 {
            let (g, results, _) = random_graph(seed, 25, |i| small(seed as usize + i));
            let order = g.order(&results);
            let expected: Vec<u32> =
                unplanned(&g, &order, &results).iter().map(|x| x.to_bits()).collect();
            for (over, ahead) in [(false, false), (true, false), (false, true), (true, true)] {
                let what = format!("random graph {seed}, in place: {over}, by size: {ahead}");
                let mut memory = make(&what, &g, &order, &results, over);
                if ahead {
                    let lives = lifetimes(&g, &order, &results);
                    let by_size = MemoryPlan::by_size(&g, &lives, over);
                    memory = by_size.unwrap_or_else(|e| {
                        panic!("{what}: this must be accepted, but it was refused: {e:#}")
                    });
                }
                let run = || planned(&g, &order, &results, &memory);
                let found = assert_returns(&what, run, of_a_plan);
                let found: Vec<u32> = found.iter().map(|x| x.to_bits()).collect();
                assert!(
                    found == expected,
                    "{what}: the numbers differ from those with a buffer for each node"
                );
            }
        }
    });
}

/// Computes the course's model in one arena. The logits are week 2's, and nothing is allocated
/// while the size of a pass stays the same.
#[test]
fn task_3_planned_logits_equal_week_2_without_allocating() {
    resting_on(&[LIVES, ARENA], || {
        // Attention in one pass, which needs no additional memory.
        let (attention, kernels) = (AttentionKind::Streaming, Rung::Fused.into());
        let (model, plan) = (story(), Plan { attention, kernels, ..plan() });
        let [mut ours, mut theirs] = [0; 2].map(|_| cache_for(&model));
        let (mut engine, mut work) = (GraphEngine::planned(), Workspace::default());
        let mut position = 0;
        for n in [2, 1, 1] {
            let rows = rows(&model, position, n);
            position += n;
            let what = format!("{n} rows that end at position {position}");
            let (allocations, found) = count(|| {
                let run = || engine.forward(&model, &rows, &mut ours, &plan).map(<[f32]>::len);
                assert_returns(&what, run, of_a_plan)
            });
            found.unwrap_or_else(|e| {
                panic!("{what}: this must be accepted, but it was refused: {e:#}")
            });
            let found = engine.logits();
            let expected = model.forward(&rows, &mut theirs, &plan, &mut work);
            let differ = found.iter().zip(expected).filter(|(a, b)| a.to_bits() != b.to_bits());
            assert_eq!(differ.count(), 0, "{what}: number of logits that differ from week 2's");
            assert!(
                position < 4 || allocations == 0,
                "{what}: found {allocations} heap allocations, expected none"
            );
        }
    });
}

#[test]
fn task_3_plan_peak_is_near_the_lower_bound() {
    resting_on(&[LIVES, ARENA], || {
        let model = story();
        for rows in [1, 7, 64, 512] {
            let Built { graph, order, logits, .. } =
                Built::new(&model, PassShape { rows, wanted: 1 }).expect("a model");
            let lives = lifetimes(&graph, &order, &[logits]);
            let (bound, sum) = (lower_bound(&lives), without_reuse(&lives));
            let [apart, over] =
                [false, true].map(|over| make("tiny-story", &graph, &order, &[logits], over));
            let peaks = format!(
                "{rows} rows: peaks {} (not in place) and {} (in place)",
                apart.peak, over.peak
            );
            assert!(
                apart.peak >= bound && 2 * apart.peak <= 3 * bound && 4 * apart.peak < sum,
                "{peaks}: expected the first between {bound} bytes, the lower bound, and 1.5 times \
                 that, and below a quarter of {sum}, the sum without reuse"
            );
            assert!(
                100 * over.peak <= 105 * bound,
                "{peaks}: expected the second at most 5% above {bound} bytes, the lower bound of \
                 separate buffers"
            );
            // The smaller of both plans is near the lower bound, in place or not.
            let parts = lower_bound(&lifetimes_of_parts(&graph, &lives));
            for (over, bound) in [(false, bound), (true, parts)] {
                let what = format!("{rows} rows, in place: {over}, MemoryPlan::smaller");
                let make = || MemoryPlan::smaller(&graph, &order, &[logits], over);
                let plan = assert_returns(&what, make, of_a_plan);
                let peak = plan
                    .unwrap_or_else(|e| {
                        panic!("the plan must be accepted, but it was refused: {e:#}")
                    })
                    .peak;
                assert!(
                    peak >= bound && 100 * peak <= 105 * bound,
                    "{what}: the peak is {peak} bytes, expected between the lower bound of {bound} \
                     bytes and 5% above it"
                );
            }
            assert!(
                over.in_place > 3 * model.config.n_layers,
                "{rows} rows: found only {} nodes that are computed in place, expected more than \
                 three per layer: norms, sums and rotations",
                over.in_place
            );
        }
    });
}
