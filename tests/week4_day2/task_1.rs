//! Week 4, day 2, task 1: nodes.

use tiny_llm::week4::{graph::Graph, layout::Layout, op::Op};
use tiny_llm_formats::{gguf::TensorType::F32, tensor::tensor};
use tiny_llm_harness::check::assert_answer;

use super::{leaf, weight};
use tiny_llm_harness::messages::{assert_good, assert_refused};

/// Returns the operation, the sources and the layout of node `i`.
fn seen(graph: &Graph, i: usize) -> (String, Vec<usize>, Layout) {
    let node = graph.node(
        graph.ids().nth(i).expect("the graph must have as many nodes as calls that succeeded"),
    );
    let sources = node.sources.iter().map(|source| source.index()).collect();
    (node.op.name().to_owned(), sources, node.layout)
}

fn packed(ne: [usize; 4]) -> Layout {
    let [a, b, c, _] = ne;
    Layout { tensor_type: F32, ne, nb: [4, 4 * a, 4 * a * b, 4 * a * b * c], offset: 0 }
}

/// Builds the guide's `Aᵀ(AB)` node by node, then the other nodes of this task.
#[test]
pub(super) fn task_1_nodes_have_operation_sources_and_layout() {
    let mut g = Graph::default();
    let a = leaf(&mut g, &[6, 4]);
    let b = leaf(&mut g, &[6, 3]);
    assert_answer("the numbers of the first two nodes", &(a.index(), b.index()), &(0, 1));
    let ab = assert_good("mul_mat of [6, 4] and [6, 3]", || g.mul_mat(a, b));
    let turned = assert_good("permute", || g.permute(a, [1, 0, 2, 3]));
    let copy = assert_good("contiguous", || g.contiguous(turned));
    let all = assert_good("mul_mat of [4, 6] and [4, 3]", || g.mul_mat(copy, ab));
    let twice = assert_good("add of a node to itself", || g.add(all, all));
    let bias = leaf(&mut g, &[6]);
    let biased = assert_good("add of [6] to [6, 3]", || g.add(twice, bias));
    let heads = assert_good("reshape of [6, 3]", || g.reshape(biased, &[3, 2, 3]));
    let batch = leaf(&mut g, &[3, 5, 1, 1]);
    let shared = assert_good("mul_mat of [3, 5] and [3, 2, 3]", || g.mul_mat(batch, heads));
    let w = weight(&mut g, &tensor(&[7, 5], vec![0.5; 35]));
    assert_good("mul_mat of a weight [5, 7] and [5, 2, 3]", || g.mul_mat(w, shared));
    let expected: [(usize, &str, Vec<usize>, [usize; 4]); 8] = [
        (2, "mul_mat", vec![0, 1], [4, 3, 1, 1]),
        (5, "mul_mat", vec![4, 2], [6, 3, 1, 1]),
        (6, "add", vec![5, 5], [6, 3, 1, 1]),
        (8, "add", vec![6, 7], [6, 3, 1, 1]),
        (9, "reshape", vec![8], [3, 2, 3, 1]),
        (11, "mul_mat", vec![10, 9], [5, 2, 3, 1]),
        (12, "weight", vec![], [5, 7, 1, 1]),
        (13, "mul_mat", vec![12, 11], [7, 2, 3, 1]),
    ];
    for (i, op, sources, ne) in expected {
        assert_answer(
            &format!("node {i}: operation, sources, layout"),
            &seen(&g, i),
            &(op.to_owned(), sources, packed(ne)),
        );
    }
    assert_answer("number of nodes", &g.len(), &14);
}

/// Each node has a name that begins with the prefix.
#[test]
fn task_1_node_names_begin_with_the_prefix() {
    let mut g = Graph::default();
    g.prefix("layer 3: ");
    let x = leaf(&mut g, &[4, 2]);
    let y = assert_good("add", || g.add(x, x));
    g.named(y, "twice");
    let names: Vec<&str> = g.ids().map(|id| &*g.node(id).name).collect();
    assert_answer("names of the two nodes", &names, &vec!["layer 3: ", "layer 3: twice"]);
}

#[test]
fn task_1_operations_reject_incompatible_layouts() {
    let mut g = Graph::default();
    let [a, b] = [[6, 4], [5, 3]].map(|sizes| leaf(&mut g, &sizes));
    let turned = assert_good("permute", || g.permute(a, [1, 0, 2, 3]));
    let four = leaf(&mut g, &[4, 3]);
    let stack = leaf(&mut g, &[6, 4, 2]);
    let w = weight(&mut g, &tensor(&[4, 6], vec![0.5; 24]));
    let plain = leaf(&mut g, &[4, 6]);
    let half = leaf(&mut g, &[3, 4]);
    let nodes = g.len();
    let both = ["node 0", "node 1", "[6, 4, 1, 1]", "[5, 3, 1, 1]"];
    assert_refused("mul_mat of rows of 6 and of 5", &both, || g.mul_mat(a, b));
    let strided = ["node 2", "[4, 6, 1, 1]", "contiguous"];
    assert_refused("mul_mat of a transposed node", &strided, || g.mul_mat(turned, four));
    assert_refused("mul_mat with a transposed node on the right", &strided, || {
        g.mul_mat(four, turned)
    });
    assert_refused(
        "mul_mat of two matrices and one",
        &["node 4", "[6, 4, 2, 1]", "node 0"],
        || g.mul_mat(stack, a),
    );
    assert_refused("add of [5, 3] to [6, 4]", &both, || g.add(a, b));
    assert_refused("add of [6, 4] to [5, 3]", &both, || g.add(b, a));
    let halves = ["node 0", "node 7", "[3, 4, 1, 1]"];
    assert_refused("add of [3, 4] to [6, 4]: only an axis of size 1 is repeated", &halves, || {
        g.add(a, half)
    });
    assert_refused(
        "add of a node with three axes to one with two: the sum would be larger",
        &["node 4", "node 0"],
        || g.add(a, stack),
    );
    assert_refused("add of a transposed node to itself", &strided[..1], || g.add(turned, turned));
    let one_strided = ["node 2", "node 6", "[4, 6, 1, 1]"];
    assert_refused("add of a transposed node to another", &one_strided, || g.add(plain, turned));
    assert_refused("add of another to a transposed node", &one_strided, || g.add(turned, plain));
    assert_refused("reshape of 24 numbers to 25", &["node 0", "[6, 4, 1, 1]", "[5, 5]"], || {
        g.reshape(a, &[5, 5])
    });
    assert_refused("reshape of a transposed node", &["node 2", "contiguous"], || {
        g.reshape(turned, &[24])
    });
    let _ = w;
    assert_answer("number of nodes: a refused call must add none", &g.len(), &nodes);
}

/// A source of another, larger graph has an index that is not valid in this graph.
#[test]
fn task_1_push_rejects_sources_of_another_graph() {
    let mut large = Graph::default();
    for _ in 0..5 {
        leaf(&mut large, &[2]);
    }
    let stranger = large.ids().last().expect("five nodes");
    let mut small = Graph::default();
    let x = leaf(&mut small, &[2]);
    let layout = small.layout(x);
    assert_refused("a source that is not a node of the graph", &["4"], || {
        small.push(Op::Add, &[x, stranger], layout)
    });
    assert_refused("a first source that is not a node of the graph", &["4"], || {
        small.push(Op::Add, &[stranger, x], layout)
    });
    let itself = large.ids().nth(1).expect("five nodes");
    assert_refused("a node that would read itself", &["1"], || {
        small.push(Op::Add, &[x, itself], layout)
    });
}

/// An operation that would read a weight or tokens as f32 values is rejected when it is added, not
/// when it is computed. A view of a weight can be multiplied.
#[test]
fn task_1_operations_reject_weights_and_tokens_as_values() {
    let mut g = Graph::default();
    let x = leaf(&mut g, &[5, 2]);
    let w = weight(&mut g, &tensor(&[2, 5], vec![0.5; 10]));
    let tokens = assert_good("tokens", || g.tokens(5));
    let view = assert_good("a view of a weight", || g.reshape(w, &[5, 1, 2]));
    let nodes = g.len();
    let both = ["node 0", "node 1", "[5, 2, 1, 1]"];
    assert_refused("add with a weight on the right", &both, || g.add(x, w));
    assert_refused("add with a weight on the left", &both, || g.add(w, x));
    assert_refused("mul_mat with a weight on the right", &both, || g.mul_mat(x, w));
    assert_refused("add with tokens on the right", &["node 0", "node 2"], || g.add(x, tokens));
    assert_refused("contiguous of a view of a weight", &["node 3"], || g.contiguous(view));
    assert_refused("embed with a view of a weight as the table", &["node 3", "node 2"], || {
        g.embed(view, tokens)
    });
    assert_answer("number of nodes: a refused call must add none", &g.len(), &nodes);
    let stack = leaf(&mut g, &[5, 3, 2]);
    assert_good("mul_mat of a view of a weight", || g.mul_mat(view, stack));
}

/// Nothing is computed while a graph is built. Here, a product would have 2.5 billion numbers.
#[test]
fn task_1_building_a_graph_computes_nothing() {
    let mut g = Graph::default();
    let column = leaf(&mut g, &[1, 50_000]);
    let mut x = assert_good("a huge product", || g.mul_mat(column, column));
    for _ in 0..100 {
        x = assert_good("a huge sum", || g.add(x, x));
    }
    assert_answer("sizes of the last sum", &g.layout(x).ne, &[50_000, 50_000, 1, 1]);
}
