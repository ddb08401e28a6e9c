//! Week 4, day 3, task 3: a plan.

use std::path::Path;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        load::load_folder,
        model::{Model, Workspace},
        rows::Row,
    },
    week4::{
        engine::{Built, GraphEngine},
        graph::{Graph, NodeId},
        lifetimes::{lifetimes, lower_bound, without_reuse},
        llama::PassShape,
        planner::MemoryPlan,
    },
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, resting_on},
    fixtures::Case,
};

use super::{ARENA, LIVES, each, graph_of, list, plan, planned, unplanned};

#[track_caller]
fn make(what: &str, g: &Graph, order: &[NodeId], results: &[NodeId], over: bool) -> MemoryPlan {
    let made = assert_accepts(what, || MemoryPlan::new(g, order, results, over));
    made.unwrap_or_else(|e| panic!("{what}: this plan is refused: {e:#}"))
}

/// Node, where its part begins and how long it is; then the peak.
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
fn task_3_where_each_node_lies() {
    each("task_3_graph/", |case| {
        resting_on(&[LIVES, ARENA], || {
            let (g, order, results) = graph_of(case);
            for (over, which) in [(false, "plain"), (true, "over")] {
                let how = if over { "in place" } else { "no node over another" };
                let what = format!("{}, {how}: node, part; peak", case.name());
                let memory = make(&what, &g, &order, &results, over);
                assert_answer(&what, &seen(&memory), &expected(case, which));
            }
        });
    });
}

#[test]
fn task_3_planned_numbers_are_pytorchs() {
    each("task_3_graph/", |case| {
        resting_on(&[LIVES, ARENA], || {
            let (g, order, results) = graph_of(case);
            for over in [false, true] {
                let memory = make(case.name(), &g, &order, &results, over);
                let what = format!("{}, in place: {over}", case.name());
                let found = assert_accepts(&what, || planned(&g, &order, &results, &memory));
                case.check("results", &tensor(&[found.len()], found));
            }
        });
    });
}

/// A graph of three-by-three numbers that nobody has thought of, and two results.
fn random_graph(seed: u64) -> (Graph, Vec<NodeId>, Vec<NodeId>) {
    let mut state = seed;
    let mut below = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % n
    };
    let mut g = Graph::default();
    let mut ids = vec![g.values(&[4, 4], &small(seed)).expect("numbers")];
    for i in 0..below(25) + 5 {
        let [a, b] = [0; 2].map(|_| ids[ids.len() - 1 - below(ids.len().min(6))]);
        let made = match below(7) {
            0 => g.values(&[4, 4], &small(seed + i as u64)),
            1 => g.permute(a, [1, 0, 2, 3]).and_then(|turned| g.contiguous(turned)),
            2 => g.reshape(a, &[4, 4]),
            3 => g.mul_mat(a, b),
            4 => g.rms_norm(a, &[0.5, 1.0, -2.0, 1.5], 1e-3),
            _ => g.add(a, b),
        };
        ids.push(made.expect("all are four by four"));
    }
    let results = vec![ids[ids.len() - 1], ids[below(ids.len())]];
    let results = results.into_iter().filter(|&id| !g.node(g.root(id)).op.is_leaf()).collect();
    (g, ids, results)
}

fn small(seed: u64) -> Vec<f32> {
    (0..16).map(|i| ((i * 5 + seed) % 7) as f32 / 8.0 - 0.25).collect()
}

/// Planned or not, a graph comes to the same, bit for bit; with NaN wherever nobody has written.
#[test]
fn task_3_random_graphs_come_to_the_same() {
    resting_on(&[LIVES, ARENA], || {
        for seed in 0..100 {
            let (g, _, results) = random_graph(seed);
            let order = g.order(&results);
            let expected: Vec<u32> =
                unplanned(&g, &order, &results).iter().map(|x| x.to_bits()).collect();
            for over in [false, true] {
                let what = format!("random graph {seed}, in place: {over}");
                let memory = make(&what, &g, &order, &results, over);
                let found = assert_accepts(&what, || planned(&g, &order, &results, &memory));
                let found: Vec<u32> = found.iter().map(|x| x.to_bits()).collect();
                assert!(found == expected, "{what}: other numbers than with a buffer for each");
            }
        }
    });
}

fn story() -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story");
    load_folder(&folder, 64).expect("the model that comes with the course")
}

/// The model of the course in one arena: week 2's logits, and how little it needs.
#[test]
fn task_3_a_model_in_one_arena() {
    resting_on(&[LIVES, ARENA], || {
        let (model, plan) = (story(), plan());
        let c = &model.config;
        let shape = CacheShape {
            layers: c.n_layers,
            sequences: 1,
            kv_heads: c.n_kv_heads,
            capacity: c.max_positions,
            head_dim: c.head_dim,
        };
        let [mut ours, mut theirs] = [0; 2].map(|_| DenseCache::new(shape, CacheType::F16));
        let (mut engine, mut work) = (GraphEngine::planned(), Workspace::default());
        let mut position = 0;
        for n in [2, 1] {
            let row = |i: usize| Row {
                token: (97 * (position + i) % c.vocab_size) as u32,
                position: position + i,
                sequence: 0,
                logits: i + 1 == n,
            };
            let rows: Vec<Row> = (0..n).map(row).collect();
            position += n;
            let what = format!("{n} rows that end at position {position}");
            let found = assert_accepts(&what, || {
                engine.forward(&model, &rows, &mut ours, &plan).map(<[f32]>::to_vec)
            });
            let found = found.unwrap_or_else(|e| panic!("{what}: refused: {e:#}"));
            let expected = model.forward(&rows, &mut theirs, &plan, &mut work);
            let differ = found.iter().zip(expected).filter(|(a, b)| a.to_bits() != b.to_bits());
            assert_eq!(differ.count(), 0, "{what}: logits that differ from week 2's in some bit");
        }
    });
}

#[test]
fn task_3_the_peak_is_near_the_bound() {
    resting_on(&[LIVES, ARENA], || {
        let model = story();
        for rows in [1, 7, 64] {
            let Built { graph, order, logits, .. } =
                Built::new(&model, PassShape { rows, wanted: 1 }).expect("a model");
            let lives = lifetimes(&graph, &order, &[logits]);
            let (bound, sum) = (lower_bound(&lives), without_reuse(&lives));
            let [apart, over] =
                [false, true].map(|over| make("tiny-story", &graph, &order, &[logits], over));
            let peaks = format!("{rows} rows: peaks {} and {}", apart.peak, over.peak);
            assert!(
                apart.peak >= bound && 2 * apart.peak <= 3 * bound && 4 * apart.peak < sum,
                "{peaks}: expected between {bound} bytes, the lower bound, and half as much again, \
                 which is far less than {sum} without reuse"
            );
            assert!(
                100 * over.peak <= 105 * bound,
                "{peaks}: in place, expected at most 5 in 100 more than the {bound} bytes that \
                 buffers of their own cannot do without"
            );
            assert!(
                over.in_place > 3 * model.config.n_layers,
                "{rows} rows: {} nodes are written in place; norms, sums and turns could be",
                over.in_place
            );
        }
    });
}
