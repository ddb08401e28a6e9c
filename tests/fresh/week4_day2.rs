//! Week 4, day 2, on fresh inputs.

use tiny_llm::{
    week2::{kernels::Rung, matrix::Matrix, rows::Row},
    week4::{
        dot::dot,
        engine::GraphEngine,
        execute::Executor,
        graph::{Graph, NodeId},
    },
};
use tiny_llm_harness::{fixtures::Fixtures, fresh::Fresh};

use super::{as_made, cache_of, graphs::fresh_graph, models, plan, run};

#[test]
fn task_1() {
    let fresh = Fresh::new("week4-day2 task 1");
    for _ in 0..40 {
        let mut g = Graph::default();
        let sizes: Vec<[usize; 2]> =
            (0..4).map(|_| [fresh.from_to(1, 3), fresh.from_to(1, 3)]).collect();
        let ids: Vec<NodeId> =
            sizes.iter().map(|s| g.values(s, &fresh.f32s(s[0] * s[1])).expect("numbers")).collect();
        let [a, b] = [0; 2].map(|_| ids[fresh.below(4)]);
        let made = [g.mul_mat(a, b).ok(), g.add(a, b).ok(), g.reshape(a, &[1, 6]).ok()];
        fresh.says("layouts", &(&sizes, made.map(|id| id.map(|id| g.layout(id)))));
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week4-day2 task 2");
    for _ in 0..30 {
        let (g, ids) = fresh_graph(&fresh);
        let result = ids[fresh.below(ids.len())];
        let mut order = g.order(&[result]);
        let behind = |id: &NodeId| order.iter().position(|other| other == id);
        let sound = order.iter().enumerate().all(|(at, &id)| {
            g.node(id).sources.iter().all(|source| behind(source).is_some_and(|place| place < at))
        });
        fresh.says("leaves", &g.leaves(&order).len());
        order.sort_unstable();
        fresh.says("an order", &(sound, order));
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week4-day2 task 3");
    let mut executor = Executor::default();
    for _ in 0..20 {
        let (g, ids) = fresh_graph(&fresh);
        run(&mut executor, &g, &as_made(&g), &plan(Rung::Naive, 1));
        let last = executor.values(&g, ids[ids.len() - 1]);
        let size = last.iter().fold(1f32, |m, x| m.max(x.abs()));
        let scaled: Vec<f32> = last.iter().map(|x| x / size).collect();
        fresh.answers("its result over its size", &scaled, 1e-3);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week4-day2 task 4");
    let fixtures = Fixtures::open("week4_day2");
    let model = models::of_case(&fixtures.case("task_4_model/qwen3"), Matrix::from_f32);
    let (mut engine, mut cache) = (GraphEngine::default(), cache_of(&model, 1));
    let mut position = 0;
    for _ in 0..6 {
        let n = fresh.from_to(1, 4);
        let row = |i: usize| Row {
            token: fresh.below(20) as u32,
            position: position + i,
            sequence: 0,
            logits: i + 1 == n,
        };
        let rows: Vec<Row> = (0..n).map(row).collect();
        position += n;
        let logits = engine.forward(&model, &rows, &mut cache, &plan(Rung::Naive, 1));
        fresh.answers("logits", logits.expect("a model"), 1e-2);
    }
}

#[test]
fn task_5() {
    let fresh = Fresh::new("week4-day2 task 5");
    for _ in 0..10 {
        let (g, _) = fresh_graph(&fresh);
        let text = dot(&g, &as_made(&g));
        let arrows = text.lines().filter(|line| line.contains("->")).map(str::trim).count();
        let nodes = text.lines().filter(|line| line.contains("label=")).count();
        fresh.says("nodes and arrows", &(nodes, arrows));
    }
}
