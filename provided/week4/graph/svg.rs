//! Day 2. Draws a graph. Every node is below all its sources, and the residual stream is the first
//! column.

use std::fmt::Write as _;

use crate::week4::graph::{Graph, NodeId};

/// Width and height of a node's box.
const BOX: (usize, usize) = (150, 40);
/// Horizontal and vertical distance from one box to the next. Connecting lines run in the gaps.
const PITCH: (usize, usize) = (184, 72);
const STREAM: &str = "#d98200";

/// Draws the nodes in `order` as SVG. A leaf is just above the first node that reads it.
#[must_use]
pub fn svg(graph: &Graph, order: &[NodeId]) -> String {
    let stream = residual_stream(graph, order);
    let places = places(graph, order, &stream);
    let corner = |id: NodeId| {
        let (column, line) = places[id.index()];
        (column * PITCH.0 + 30, line * PITCH.1 + 20)
    };
    let extent = |of: fn(&(usize, usize)) -> usize| {
        order.iter().map(|id| of(&places[id.index()]) + 1).max().unwrap_or(1)
    };
    let (width, height) = (extent(|at| at.0) * PITCH.0 + 20, extent(|at| at.1) * PITCH.1 + 20);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut line = |line: String| writeln!(text, "{line}").expect("a text takes every line");
    for (&id, &source) in
        order.iter().flat_map(|id| graph.node(*id).sources.iter().map(move |s| (id, s)))
    {
        let along = stream.contains(&id) && stream.contains(&source);
        let (color, thick) = if along { (STREAM, 4) } else { ("#888", 1) };
        let route = route(corner(source), corner(id), along, source.index() % 5);
        line(format!(
            "<path d=\"{route}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{thick}\"/>"
        ));
    }
    for &id in order {
        let (node, (x, y)) = (graph.node(id), corner(id));
        let fill = match &node.op {
            _ if stream.contains(&id) => "#ffe3b3",
            op if op.is_leaf() => "#f6c8c0",
            op if op.is_view() => "#fff",
            _ => "#dbe7f5",
        };
        line(format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{fill}\" \
             stroke=\"#555\"/>",
            BOX.0, BOX.1
        ));
        for (down, words) in [(16, graph.label(id)), (31, node.layout.to_string())] {
            line(format!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#111\">{words}</text>",
                x + BOX.0 / 2,
                y + down
            ));
        }
    }
    text + "</svg>\n"
}

/// Returns the nodes of the residual stream: `embed`, and each node that adds to the stream.
fn residual_stream(graph: &Graph, order: &[NodeId]) -> Vec<NodeId> {
    let mut stream: Vec<NodeId> = Vec::new();
    for &id in order {
        let node = graph.node(id);
        let goes_on = match stream.last() {
            None => node.op.name() == "embed",
            Some(last) => node.op.name() == "add" && node.sources.contains(last),
        };
        if goes_on {
            stream.push(id);
        }
    }
    stream
}

/// Returns a path from the bottom of one node to the top of another. The path crosses no node. It
/// is a straight line if `straight` is set, or if the second node is in the next line. Any other
/// path runs in the gaps between the boxes. `lane` keeps neighbouring paths apart.
fn route(from: (usize, usize), to: (usize, usize), straight: bool, lane: usize) -> String {
    let (x1, y1, x2, y2) = (from.0 + BOX.0 / 2, from.1 + BOX.1, to.0 + BOX.0 / 2, to.1);
    if straight || to.1 == from.1 + PITCH.1 {
        return format!("M{x1} {y1} L{x2} {y2}");
    }
    let (gap, below, above) = (to.0 - 8 - 3 * lane, y1 + 6 + 4 * lane, y2 - 6 - 4 * lane);
    format!("M{x1} {y1} V{below} H{gap} V{above} H{x2} V{y2}")
}

/// Returns each node's column and line. The first column is for the residual stream.
fn places(graph: &Graph, order: &[NodeId], stream: &[NodeId]) -> Vec<(usize, usize)> {
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
    let mut used = vec![1; lines.iter().max().map_or(0, |line| line + 1)];
    let mut places = vec![(0, 0); graph.len()];
    for &id in order {
        let line = lines[id.index()];
        let in_stream = stream.contains(&id);
        places[id.index()] = (if in_stream { 0 } else { used[line] }, line);
        used[line] += usize::from(!in_stream);
    }
    places
}
