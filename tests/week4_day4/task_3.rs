//! Week 4, day 4, task 3: the fewest copies.

use std::collections::BTreeSet;

use tiny_llm::week4::{
    cut::fewest_copies,
    graph::{Graph, NodeId},
};
use tiny_llm_harness::check::{assert_accepts, assert_answer};

use super::{backends, each, graph_of, is_computed, random_graph};

/// What a placement copies, and where to.
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
pub(super) fn task_3_fewest_copies() {
    each("task_3_graph/", |case| {
        let (g, ids) = graph_of(case);
        let pinned = backends(case.value("pinned"));
        let found = assert_accepts(case.name(), || fewest_copies(&g, &ids, &pinned));
        let what = format!("{}: copies, and the backend of each node", case.name());
        let expected = (case.count("copies"), backends(case.value("placed")));
        assert_answer(&what, &(copies(&g, &ids, &found), found), &expected);
    });
}

/// Against all placements that there are.
#[test]
fn task_3_nobody_does_with_fewer() {
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
        let moved = order
            .iter()
            .any(|&id| pinned[id.index()].is_some() && pinned[id.index()] != found[id.index()]);
        assert!(!moved, "{what}: a pinned node has been placed elsewhere");
        let found_copies = copies(&g, &order, &found);
        assert!(
            (found_copies, elsewhere) == least,
            "{what}: found {found_copies} copies with {elsewhere} free nodes on the last backend; \
             of all placements, the best has {} with {}",
            least.0,
            least.1
        );
        let others = g.ids().filter(|id| !order.contains(id) || !is_computed(&g, *id));
        let nowhere = others.into_iter().all(|id| found[id.index()].is_none());
        assert!(nowhere, "{what}: a leaf, a view or a node outside of the order has been placed");
    }
}
