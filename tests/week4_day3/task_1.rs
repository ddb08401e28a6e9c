//! Week 4, day 3, task 1: lifetimes.

use tiny_llm::week4::{
    graph::Graph,
    lifetimes::{Lifetime, lifetimes, lower_bound, without_reuse},
};
use tiny_llm_harness::check::{assert_accepts, assert_answer};

use super::{each, graph_of, list};

/// Returns for each lifetime the node, the bytes, the first and the last step.
fn seen(lives: &[Lifetime]) -> Vec<[usize; 4]> {
    lives.iter().map(|life| [life.node.index(), life.bytes, life.first, life.last]).collect()
}

#[test]
pub(super) fn task_1_lifetimes_have_expected_first_and_last_steps() {
    each("task_3_graph/", |case| {
        let (g, order, results) = graph_of(case);
        let expected: Vec<[usize; 4]> = case
            .value("lives")
            .as_array()
            .expect("a list")
            .iter()
            .map(|life| list(life).try_into().expect("four numbers"))
            .collect();
        let lives = assert_accepts(case.name(), || lifetimes(&g, &order, &results));
        let what = format!(
            "{}: [node, bytes, first step, last step] of each buffer of the {} nodes",
            case.name(),
            g.len()
        );
        let found = seen(&lives);
        // Whether this buffer's lifetime ends one step too soon, if the buffer is read and is no
        // result.
        let early = |(f, e): (&[usize; 4], &[usize; 4])| {
            let stays = e[3] == order.len() || e[3] == e[2];
            f[..3] == e[..3] && f[3] + usize::from(!stays) == e[3]
        };
        let all = found.len() == expected.len() && found.iter().zip(&expected).all(early);
        assert!(
            !all || found == expected,
            "{what}\n  found    {found:?}\n  expected {expected:?}\n  diagnosis You end a \
            buffer's lifetime before the step that reads the buffer last. End it at that step."
        );
        assert_answer(&what, &found, &expected);
    });
}

/// Uses lifetimes that are written out here, so that it needs no other function.
#[test]
fn task_1_lower_bound_is_the_peak_of_live_bytes() {
    let mut g = Graph::default();
    let node = g.values(&[1], &[0.0]).expect("values must accept these numbers");
    let life = |bytes, first, last| Lifetime { node, bytes, first, last };
    for (why, lives, expected) in [
        ("one buffer", vec![life(64, 3, 5)], 64),
        ("one buffer after the other", vec![life(64, 0, 1), life(128, 2, 3)], 128),
        (
            "one buffer is written while the other is read",
            vec![life(64, 0, 1), life(128, 1, 2)],
            192,
        ),
        (
            "a buffer is written and never read",
            vec![life(64, 0, 4), life(128, 2, 2), life(64, 3, 4)],
            192,
        ),
        (
            "the maximum is in the middle",
            vec![life(64, 0, 9), life(256, 1, 3), life(128, 3, 6), life(512, 7, 8)],
            576,
        ),
        ("the maximum is at the end", vec![life(64, 0, 2), life(128, 2, 2)], 192),
        ("no buffers", vec![], 0),
    ] {
        let found = assert_accepts(why, || lower_bound(&lives));
        assert_answer(&format!("{why}: lower bound of {:?}", seen(&lives)), &found, &expected);
    }
    each("task_3_graph/", |case| {
        let (g, order, results) = graph_of(case);
        let lives = assert_accepts(case.name(), || lifetimes(&g, &order, &results));
        let found = assert_accepts(case.name(), || lower_bound(&lives));
        let expected = list(case.value("bound"))[0];
        // Names no likely mistake, because the lifetimes may be wrong as well.
        assert!(
            found == expected,
            "{}: lower bound\n  found    {found}\n  expected {expected}",
            case.name()
        );
        let sum: usize = seen(&lives).iter().map(|life| life[1]).sum();
        assert_answer("without_reuse: the sum of all buffers", &without_reuse(&lives), &sum);
    });
}

/// A view has no buffer. If it is a result, the buffer of its root must stay until the end.
#[test]
fn task_1_root_of_a_view_result_lives_to_the_end() {
    let mut g = Graph::default();
    let x = g.values(&[20], &[1.0; 20]).expect("values must accept these numbers");
    let y = g.add(x, x).expect("add must accept these nodes");
    let view = g.reshape(y, &[5, 4]).expect("reshape must accept these sizes");
    let z = g.add(x, x).expect("add must accept these nodes");
    let lives = assert_accepts("a view as a result", || lifetimes(&g, &[x, y, view, z], &[view]));
    let found = seen(&lives).into_iter().find(|life| life[0] == y.index());
    assert_answer(
        "[node, bytes, first step, last step] of the root of a result, in an order of 4 steps",
        &found,
        &Some([y.index(), 128, 1, 4]),
    );
}

#[test]
fn task_1_nodes_outside_the_order_have_no_lifetime() {
    let mut g = Graph::default();
    let x = g.values(&[20], &[1.0; 20]).expect("values must accept these numbers");
    let y = g.add(x, x).expect("add must accept these nodes");
    let other = g.add(y, y).expect("add must accept these nodes");
    let z = g.add(y, x).expect("add must accept these nodes");
    let lives = assert_accepts("an order without node 2", || lifetimes(&g, &[x, y, z], &[z]));
    let expected = vec![[y.index(), 128, 1, 2], [z.index(), 128, 2, 3]];
    assert_answer(
        &format!(
            "[node, bytes, first step, last step] of each buffer, in an order without node {}",
            other.index()
        ),
        &seen(&lives),
        &expected,
    );
}
