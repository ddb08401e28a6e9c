//! Day 2. A graph as a picture: every node below all that it reads.

use std::fmt::Write as _;

use crate::week4::graph::{Graph, NodeId};

/// What a node takes.
const BOX: (usize, usize) = (150, 40);
/// From one to the next.
const PITCH: (usize, usize) = (170, 66);

/// The nodes of an order as SVG. Leaves stand just above the first node that reads them.
#[must_use]
pub fn svg(graph: &Graph, order: &[NodeId]) -> String {
    let places = places(graph, order);
    let at = |id: NodeId| places[id.index()];
    let across = order.iter().map(|&id| at(id).0 + 1).max().unwrap_or(1);
    let down = order.iter().map(|&id| at(id).1 + 1).max().unwrap_or(1);
    let (width, height) = (across * PITCH.0 + 20, down * PITCH.1 + 20);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let corner = |id| (at(id).0 * PITCH.0 + 20, at(id).1 * PITCH.1 + 20);
    let mut line = |line: String| writeln!(text, "{line}").expect("a text takes every line");
    for &id in order {
        for &source in &graph.node(id).sources {
            let ((x1, y1), (x2, y2)) = (corner(source), corner(id));
            line(format!(
                "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{y2}\" stroke=\"#888\"/>",
                x1 + BOX.0 / 2,
                y1 + BOX.1,
                x2 + BOX.0 / 2,
            ));
        }
    }
    for &id in order {
        let (node, (x, y)) = (graph.node(id), corner(id));
        let fill = if node.op.is_leaf() {
            "#f6c8c0"
        } else if node.op.is_view() {
            "#fff"
        } else {
            "#dbe7f5"
        };
        let sizes = node.layout.to_string();
        line(format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{fill}\" \
             stroke=\"#555\"/>",
            BOX.0, BOX.1
        ));
        for (down, words) in [(16, node.op.name()), (31, &*sizes)] {
            line(format!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#111\">{words}</text>",
                x + BOX.0 / 2,
                y + down
            ));
        }
    }
    text + "</svg>\n"
}

/// Column and line of each node.
fn places(graph: &Graph, order: &[NodeId]) -> Vec<(usize, usize)> {
    let mut lines = vec![0; graph.len()];
    for &id in order {
        let sources = graph.node(id).sources.iter();
        lines[id.index()] = sources.map(|source| lines[source.index()] + 1).max().unwrap_or(0);
    }
    for &id in order.iter().rev() {
        for &source in &graph.node(id).sources {
            if graph.node(source).op.is_leaf() {
                let above = lines[id.index()] - 1;
                let mut readers =
                    order.iter().filter(|&&id| graph.node(id).sources.contains(&source));
                if readers.next() == Some(&id) {
                    lines[source.index()] = above;
                }
            }
        }
    }
    let mut used = vec![0; lines.iter().max().map_or(0, |line| line + 1)];
    let mut places = vec![(0, 0); graph.len()];
    for &id in order {
        let line = lines[id.index()];
        places[id.index()] = (used[line], line);
        used[line] += 1;
    }
    places
}
