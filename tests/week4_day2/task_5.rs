//! Week 4, day 2, task 5: a drawing.

use tiny_llm::week4::{dot::dot, graph::Graph, svg::svg};
use tiny_llm_harness::check::{assert_accepts, assert_answer, assert_picture, resting_on};

use super::{NODES, leaf};
use tiny_llm_harness::messages::assert_good;

/// Returns the guide's `Aᵀ(AB)`, with one node that is not needed and a name with quotes.
fn guide() -> (Graph, Vec<tiny_llm::week4::graph::NodeId>) {
    let mut g = Graph::default();
    let a = leaf(&mut g, &[6, 4]);
    g.named(a, "A");
    let b = leaf(&mut g, &[6, 3]);
    g.named(b, "\"B\" \\");
    let other = leaf(&mut g, &[2]);
    let ab = assert_good("AB", || g.mul_mat(a, b));
    let turned = assert_good("Aᵀ", || g.permute(a, [1, 0, 2, 3]));
    let copy = assert_good("a copy of Aᵀ", || g.contiguous(turned));
    let all = assert_good("Aᵀ(AB)", || g.mul_mat(copy, ab));
    let twice = assert_good("twice", || g.add(all, all));
    assert!(other != twice, "two nodes");
    (g, vec![a, b, ab, turned, copy, all, twice])
}

/// Returns the lines of nodes and arrows, trimmed.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim().trim_end_matches(';').to_owned());
    lines.filter(|line| line.starts_with('n') && !line.starts_with("node ")).collect()
}

#[test]
fn task_5_dot_has_expected_nodes_and_arrows() {
    resting_on(&[NODES], || {
        let (g, order) = guide();
        let text = assert_accepts("dot", || dot(&g, &order));
        let arrows: Vec<String> =
            lines(&text).into_iter().filter(|line| line.contains("->")).collect();
        let expected = [
            "n0 -> n3", "n1 -> n3", "n0 -> n4", "n4 -> n5", "n5 -> n6", "n3 -> n6", "n6 -> n7",
            "n6 -> n7",
        ];
        assert_picture("the arrows of Aᵀ(AB) + itself", &arrows.join("\n"), &expected.join("\n"));
        let nodes: Vec<String> =
            lines(&text).into_iter().filter(|line| !line.contains("->")).collect();
        let begins = ["n0 [", "n1 [", "n3 [", "n4 [", "n5 [", "n6 [", "n7 ["];
        let found: Vec<&str> = nodes.iter().map(|line| line.get(..4).unwrap_or(line)).collect();
        assert_answer("the nodes that are drawn", &found, &begins.to_vec());
        for (node, parts) in nodes.iter().zip([
            &["label=\"values", "A", "F32 [6, 4, 1, 1]", "red"][..],
            &["\\\"B\\\" \\\\", "F32 [6, 3, 1, 1]", "red"],
            &["mul_mat", "F32 [4, 3, 1, 1]"],
            &["permute", "F32 [4, 6, 1, 1]"],
            &["contiguous", "F32 [4, 6, 1, 1]"],
            &["mul_mat", "F32 [6, 3, 1, 1]"],
            &["add", "F32 [6, 3, 1, 1]"],
        ]) {
            for part in parts {
                assert!(
                    node.contains(part),
                    "a node of the text must contain these characters\n  found    {node}\n  \
                     expected {part}"
                );
            }
            assert!(
                parts.contains(&"red") == node.contains("red"),
                "leaves must be red, and no other nodes, but found\n  {node}"
            );
        }
        assert!(
            text.starts_with("digraph") && text.trim_end().ends_with('}'),
            "expected `digraph {{ … }}`, which Graphviz reads, found\n{text}"
        );
    });
}

/// The provided picture has as many boxes and lines as the text has nodes and arrows.
#[test]
fn task_5_svg_and_dot_have_equal_node_and_arrow_counts() {
    resting_on(&[NODES], || {
        let (g, order) = guide();
        let picture = svg(&g, &order);
        let text = assert_accepts("dot", || dot(&g, &order));
        let boxes = (picture.matches("<rect x=").count(), text.matches("label=").count());
        let lines = (picture.matches("<path ").count(), text.matches(" -> ").count());
        assert_answer("boxes of the picture, nodes of the text", &boxes, &(7, 7));
        assert_answer("lines of the picture, arrows of the text", &lines, &(8, 8));
    });
}
