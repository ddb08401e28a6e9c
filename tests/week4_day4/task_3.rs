//! Week 4, day 4, task 3: the fewest copies.

use std::collections::BTreeSet;

use tiny_llm::week4::{
    cut::fewest_copies,
    graph::{Graph, NodeId},
};
use tiny_llm_harness::check::{assert_accepts, assert_answer};

use super::{ONE_VIEW_BACK, backends, each, graph_of, is_computed, random_graph};

/// Returns the number of copies that a placement needs.
pub(super) fn copies(g: &Graph, order: &[NodeId], placed: &[Option<usize>]) -> usize {
    let mut all = BTreeSet::new();
    for &id in order.iter().filter(|&&id| is_computed(g, id)) {
        for &source in &g.node(id).sources {
            let (root, here) = (g.root(source), placed[id.index()]);
            if is_computed(g, root) && placed[root.index()] != here {
                all.insert((root, here));
            }
        }
    }
    all.len()
}

#[test]
pub(super) fn task_3_fewest_copies_returns_expected_placements() {
    each("task_3_graph/", |case| {
        let (g, ids) = graph_of(case);
        let pinned = backends(case.value("pinned"));
        let found = assert_accepts(case.name(), || fewest_copies(&g, &ids, &pinned));
        let what = format!("{}: (copies, backend of each node)", case.name());
        let expected = (case.count("copies"), backends(case.value("placed")));
        assert_answer(&what, &(copies(&g, &ids, &found), found), &expected);
    });
}

/// A node that reads a view reads the bytes of its root, however many views are in between.
#[test]
fn task_3_fewest_copies_follows_nested_views() {
    for views in 1..4 {
        let mut g = Graph::default();
        let x = g.values(&[4], &[1.0, 2.0, 3.0, 4.0]).expect("values must accept these numbers");
        let sum = g.add(x, x).expect("add must accept these nodes");
        let mut view = sum;
        for _ in 0..views {
            view = g.reshape(view, &[4]).expect("reshape must accept these sizes");
        }
        let reader = g.add(view, view).expect("add must accept these nodes");
        let mut pinned = vec![None; g.len()];
        pinned[sum.index()] = Some(1);
        let what = format!(
            "a sum on backend 1, and a free node that reads it through {views} nested view{}",
            if views == 1 { "" } else { "s" }
        );
        let order = g.order(&[reader]);
        let found = assert_accepts(&what, || fewest_copies(&g, &order, &pinned));
        let diagnosis = if views > 1 { ONE_VIEW_BACK } else { "" };
        assert!(
            found[reader.index()] == Some(1),
            "{what}: the reader's backend: found {:?}, expected Some(1), because that needs no \
             copy{diagnosis}",
            found[reader.index()]
        );
    }
}

/// Compares the number of copies with those of all possible placements.
#[test]
fn task_3_fewest_copies_is_optimal_for_random_graphs() {
    for seed in 0..60 {
        let (g, results, mut below) = random_graph(seed);
        let order = g.order(&results);
        let mut pinned = vec![None; g.len()];
        let mut free = Vec::new();
        for &id in order.iter().filter(|&&id| is_computed(&g, id)) {
            match below(5) {
                which @ (0 | 1) => pinned[id.index()] = Some(which),
                _ => free.push(id),
            }
        }
        let what = format!("random graph {seed}");
        let found = assert_accepts(&what, || fewest_copies(&g, &order, &pinned));
        let mut least = (usize::MAX, usize::MAX);
        for choice in 0..1usize << free.len() {
            let mut placed = pinned.clone();
            for (i, id) in free.iter().enumerate() {
                placed[id.index()] = Some((choice >> i) & 1);
            }
            least = least.min((copies(&g, &order, &placed), choice.count_ones() as usize));
        }
        let elsewhere = free.iter().filter(|id| found[id.index()] == Some(1)).count();
        for (i, (pinned, found)) in pinned.iter().zip(&found).enumerate() {
            assert!(
                pinned.is_none() || pinned == found,
                "{what}: n{i} is pinned to backend {}, found {found:?}. Tie a pinned node with \
                 edge(FIRST, node, NEVER) or edge(node, LAST, NEVER)",
                pinned.unwrap_or_default()
            );
        }
        let found_copies = copies(&g, &order, &found);
        let many = |n: usize, one: &str, more: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {more}"),
        };
        assert!(
            (found_copies, elsewhere) == least,
            "{what}: found {}, and {} on the last backend; the best placement has {} and {}",
            many(found_copies, "copy", "copies"),
            many(elsewhere, "free node", "free nodes"),
            many(least.0, "copy", "copies"),
            least.1
        );
        let others = g.ids().filter(|id| !order.contains(id) || !is_computed(&g, *id));
        let nowhere = others.into_iter().all(|id| found[id.index()].is_none());
        assert!(
            nowhere,
            "{what}: found a placement for a leaf, a view or a node outside the order"
        );
    }
}
