//! Week 4, day 4, task 2: pinned nodes.

use std::collections::BTreeSet;

use tiny_llm::{
    week2::matrix::Matrix,
    week4::{
        backend::Backend,
        cpu::Cpu,
        graph::{Graph, NodeId},
        op::Op,
        placement::{Wishes, pin},
        twin::Twin,
    },
};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, assert_refuses},
    fixtures::Case,
    messages::assert_good,
};

use super::{ONE_VIEW_BACK, backends, each, graph_of, list};

/// Returns twins, each without the operations that the case lists for it.
fn twins(case: &Case) -> Vec<Twin> {
    let twins: Vec<Vec<String>> = case.read("lacks");
    let twin =
        |lacks: &Vec<String>| Twin::without(&lacks.iter().map(String::as_str).collect::<Vec<_>>());
    twins.iter().map(twin).collect()
}

fn refs(twins: &[Twin]) -> Vec<&dyn Backend> {
    twins.iter().map(|twin| twin as &dyn Backend).collect()
}

/// Returns a line for each node with its operation and backend, so that a difference is readable.
fn told(g: &Graph, pinned: &[Option<usize>]) -> Vec<String> {
    let all = g.ids().zip(pinned).map(|(id, backend)| {
        let backend = backend.map_or("-".to_owned(), |b| b.to_string());
        format!("n{} {}: {backend}", id.index(), g.node(id).op.name())
    });
    all.collect()
}

#[test]
pub(super) fn task_2_pin_returns_expected_backends() {
    each("task_2_model/", |case| {
        let (g, ids) = graph_of(case);
        let homes = case.value("homes").as_array().expect("a list").iter().map(list);
        let homes = homes.map(|home| (ids[home[0]], home[1])).collect();
        let cache = case.value("cache").as_u64().map(|n| n as usize);
        let wishes = Wishes { homes, cache };
        let twins = twins(case);
        let found = assert_good(case.name(), || pin(&g, &ids, &refs(&twins), &wishes));
        let what = format!("{}: node, operation, backend", case.name());
        let expected = backends(case.value("pinned"));
        let keepers = |pinned: &[Option<usize>]| {
            let cached =
                |id: &NodeId| matches!(g.node(*id).op, Op::Store { .. } | Op::Attend { .. });
            g.ids().filter(cached).filter_map(|id| pinned[id.index()]).collect::<BTreeSet<_>>()
        };
        let cached = |line: &String| line.contains(" store:") || line.contains(" attend:");
        let lines = |pinned| told(&g, pinned).into_iter().filter(cached).collect::<Vec<_>>();
        assert!(
            keepers(&found).len() < 2,
            "{what}\n  found    {}\n  expected {}\n  diagnosis You place each store and attend \
             node by itself. Pin all of them to one backend that supports all of them.",
            lines(&found).join(", "),
            lines(&expected).join(", ")
        );
        assert_answer(&what, &told(&g, &found), &told(&g, &expected));
    });
}

/// A product reads its weight through several nested views.
#[test]
fn task_2_pin_follows_nested_views_of_a_weight() {
    for views in 1..4 {
        let mut g = Graph::default();
        let x = g.values(&[4], &[1.0, 2.0, 3.0, 4.0]).expect("values must accept these numbers");
        let weight = g.weight(&Matrix::from_f32(4, 4, &[0.5; 16])).expect("a weight");
        let mut view = weight;
        for _ in 0..views {
            view = g.reshape(view, &[4, 4]).expect("reshape must accept these sizes");
        }
        let product = g.mul_mat(view, x).expect("mul_mat must accept these nodes");
        let twins = [(); 2].map(|()| Twin::without(&[]));
        let wishes = Wishes { homes: vec![(weight, 1)], cache: None };
        let what = format!(
            "a product with a weight of backend 1, read through {views} nested view{}",
            if views == 1 { "" } else { "s" }
        );
        let order = g.order(&[product]);
        let found = assert_good(&what, || pin(&g, &order, &refs(&twins), &wishes));
        let diagnosis = if views > 1 { ONE_VIEW_BACK } else { "" };
        assert!(
            found[product.index()] == Some(1),
            "{what}: found {:?}, expected Some(1){diagnosis}",
            found[product.index()]
        );
    }
}

#[test]
fn task_2_pin_ignores_nodes_outside_the_order() {
    each("task_2_model/no_rows_by_number", |case| {
        let (g, ids) = graph_of(case);
        let twins = [Twin::without(&["embed"])];
        // An order of only the first product's input, a norm. The embedding is not in this order.
        let sum = g.ids().find(|&id| g.node(id).op.name() == "mul_mat").expect("a product");
        let norm = g.node(sum).sources[1];
        let order: Vec<NodeId> = ids.iter().copied().filter(|&id| id == norm).collect();
        let found =
            assert_accepts("one norm", || pin(&g, &order, &refs(&twins), &Wishes::default()));
        let mut expected = vec![None; g.len()];
        expected[norm.index()] = Some(0);
        assert_answer("an order of one norm, on one backend", &found.ok(), &Some(expected));
    });
}

#[test]
fn task_2_pin_rejects_unsupported_nodes() {
    each("task_2_model/all_supported", |case| {
        let (g, ids) = graph_of(case);
        for (lacks, words) in [
            (["rope", "rope"], &["rope of node ", "n10", "[2, 2, 2, 1]"][..]),
            (["silu_gate", "silu_gate"], &["silu_gate of node ", "[4, 2, 1, 1]", " and node "]),
            // Each backend could compute one half, but the cache is on one backend.
            (["store", "attend"], &["attend of node ", "n15"]),
        ] {
            let twins = lacks.map(|lack| Twin::without(&[lack]));
            let [first, second] = lacks;
            let what =
                format!("two backends, the first without {first}, the second without {second}");
            let refused =
                assert_refuses(&what, || pin(&g, &ids, &refs(&twins), &Wishes::default()));
            let told = format!("{:#}", refused.expect_err(&what));
            for word in words.iter().chain(&["twin, twin"]) {
                assert!(
                    told.contains(word),
                    "{what}: the message {told:?} does not contain {word:?}"
                );
            }
            assert!(!told.contains('\n'), "{what}: expected a message of one line, found {told:?}");
        }
        let cpu = Cpu::default();
        let all: [&dyn Backend; 1] = [&cpu];
        let found = assert_accepts("cpu", || pin(&g, &ids, &all, &Wishes::default()));
        assert!(
            found.is_ok(),
            "pin must accept the graph, because the CPU backend supports everything"
        );
    });
}
