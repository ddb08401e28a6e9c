//! Week 4, day 2, task 3: computing a graph.

use tiny_llm::{
    week2::{
        input::SUPER_BLOCK,
        kernels::{Choice, Rung},
        matrix::Matrix,
        plan::Plan,
    },
    week4::{
        execute::{Executor, Products},
        graph::{Graph, NodeId},
    },
};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, resting_on},
    fixtures::{Case, Fixtures, random},
};

use super::{NODES, as_made, given, leaf, plan, run, weight};
use tiny_llm_harness::messages::assert_good;

/// Returns the graph of a case, and its result.
fn graph_of(case: &Case) -> (Graph, NodeId) {
    let mut g = Graph::default();
    let result = match case.name() {
        "task_3_graph/guide" => {
            let [a, b] = ["a", "b"].map(|name| given(&mut g, &case.tensor(name)));
            let ab = assert_good("A B", || g.mul_mat(a, b));
            let turned = assert_good("Aᵀ", || g.permute(a, [1, 0, 2, 3]));
            let copy = assert_good("a copy of Aᵀ", || g.contiguous(turned));
            assert_good("Aᵀ(AB)", || g.mul_mat(copy, ab))
        }
        "task_3_graph/shared" => {
            let [x, y] = ["x", "y"].map(|name| given(&mut g, &case.tensor(name)));
            let w = weight(&mut g, &case.tensor("w"));
            let s = assert_good("s = x + y", || g.add(x, y));
            let once = assert_good("w s", || g.mul_mat(w, s));
            let double = assert_good("s + s", || g.add(s, s));
            let twice = assert_good("w (s + s)", || g.mul_mat(w, double));
            let t = assert_good("t", || g.add(once, twice));
            assert_good("t + t", || g.add(t, t))
        }
        _ => {
            let x = given(&mut g, &case.tensor("x"));
            let w = weight(&mut g, &case.tensor("w"));
            let norm: Vec<f32> = case.tensor("weight").iter().copied().collect();
            let h = assert_good("norm", || g.rms_norm(x, &norm, 1e-5));
            let product = assert_good("w h", || g.mul_mat(w, h));
            assert_good("x + w h", || g.add(x, product))
        }
    };
    (g, result)
}

/// In a square sum, a column has as many numbers as a row, but is added to other elements.
#[test]
fn task_3_add_broadcasts_a_column() {
    let mut g = Graph::default();
    let square = assert_good("a square", || g.values(&[3, 3], &[0.0; 9]));
    let column = assert_good("a column", || g.values(&[1, 3], &[1.0, 2.0, 3.0]));
    let sum = assert_good("the sum of a square and a column", || g.add(square, column));
    let mut executor = Executor::default();
    assert_accepts("a column added to a square", || {
        run(&mut executor, &g, &[square, column, sum], &plan(Rung::Naive, 1));
    });
    let expected = vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0];
    assert_answer(
        "a column added to a square: the sum",
        &executor.values(&g, sum).to_vec(),
        &expected,
    );
}

#[test]
pub(super) fn task_3_graphs_match_pytorch() {
    let fixtures = Fixtures::open("week4_day2");
    for name in fixtures.cases("task_3_graph/") {
        let case = fixtures.case(&name);
        resting_on(&[NODES], || {
            let (g, result) = graph_of(&case);
            let mut executor = Executor::default();
            assert_accepts(&name, || run(&mut executor, &g, &as_made(&g), &plan(Rung::Naive, 1)));
            let found = assert_accepts(&name, || executor.values(&g, result).to_vec());
            case.check("output", &tensor(case.tensor("output").shape(), found));
        });
    }
}

/// Only nodes of the order are computed. Other nodes may be invalid.
#[test]
fn task_3_nodes_outside_the_order_are_not_computed() {
    let mut g = Graph::default();
    let x = leaf(&mut g, &[3]);
    let table = weight(&mut g, &tensor(&[2, 3], vec![0.5; 6]));
    let tokens = assert_good("tokens", || g.tokens(5));
    assert_good("an embedding of more rows than the pass has", || g.embed(table, tokens));
    let sum = assert_good("a sum", || g.add(x, x));
    let mut executor = Executor::default();
    assert_accepts("a graph with a node that is not in the order and cannot be computed", || {
        run(&mut executor, &g, &[x, sum], &plan(Rung::Naive, 1));
    });
    assert_answer(
        "a graph with a node that is not in the order: the sum",
        &executor.values(&g, sum).to_vec(),
        &vec![-8.0, 6.0, -2.0],
    );
}

fn rows(n: usize, cols: usize, seed: u64) -> Vec<f32> {
    random(seed, &[n, cols]).iter().copied().collect()
}

/// Returns a weight of random blocks, Q8_0 or Q6_K, with small scales.
fn blocks(tensor_type: TensorType, outputs: usize, seed: u64) -> Matrix {
    let bytes = outputs * tensor_type.row_bytes(SUPER_BLOCK).expect("whole blocks");
    let mut bytes: Vec<u8> = rows(bytes, 1, seed).iter().map(|x| (x * 63.0) as i8 as u8).collect();
    let scale = if tensor_type == TensorType::Q8_0 { 0 } else { 208 };
    for block in bytes.chunks_exact_mut(tensor_type.block_bytes()) {
        block[scale..scale + 2].copy_from_slice(&[0, 0x1c]);
    }
    Matrix::new(outputs, SUPER_BLOCK, tensor_type, bytes.into()).expect("whole blocks")
}

fn int8_plan() -> Plan {
    let mut plan = plan(Rung::Naive, 1);
    plan.kernels = Choice::from(Rung::Integer);
    plan
}

/// Returns the two products as week 2 computes them: the input is prepared once for both weights.
fn by_hand(weights: &[Matrix; 2], x: &[f32], plan: &Plan) -> [Vec<f32>; 2] {
    let mut input = tiny_llm::week2::input::Input::default();
    input.resize(x.len() / SUPER_BLOCK, SUPER_BLOCK);
    input.values.copy_from_slice(x);
    let blocks = weights.iter().map(|w| w.tensor_type.block_len()).max().expect("two");
    let prepared = plan.prepare_for(&mut input, blocks);
    weights.each_ref().map(|weight| {
        let mut out = vec![0.0; x.len() / SUPER_BLOCK * weight.rows];
        plan.product(weight, prepared, &mut out);
        out
    })
}

/// Q8_0 needs a scale for each 32 activations, Q6_K one for each 256. Both weights read one node,
/// so week 2 quantizes it once, with the coarser scales. A graph that quantizes it for each weight
/// gets other numbers.
#[test]
fn task_3_shared_input_is_prepared_once_for_all_weights() {
    let plan = int8_plan();
    let weights = [blocks(TensorType::Q8_0, 3, 5), blocks(TensorType::Q6_K, 4, 6)];
    let x = rows(2, SUPER_BLOCK, 7);
    let mut g = Graph::default();
    let input = given(&mut g, &tensor(&[2, SUPER_BLOCK], x.clone()));
    let nodes = weights.each_ref().map(|weight| {
        let weight = assert_good("a weight", || g.weight(weight));
        assert_good("a product", || g.mul_mat(weight, input))
    });
    let mut executor = Executor::default();
    assert_accepts("two products", || run(&mut executor, &g, &as_made(&g), &plan));
    let expected = by_hand(&weights, &x, &plan);
    for ((node, expected), kind) in nodes.into_iter().zip(&expected).zip(["Q8_0", "Q6_K"]) {
        let what = format!("product of a {kind} weight, with another weight on the same input");
        assert_answer(&what, &executor.values(&g, node).to_vec(), expected);
    }
}

/// The second product of an input uses what the first one prepared, in integers and in floats. It
/// does not read the input again.
#[test]
fn task_3_second_product_reuses_the_prepared_input() {
    for (kind, plan) in [("integers", int8_plan()), ("floats", plan(Rung::Naive, 1))] {
        let weights = [blocks(TensorType::Q8_0, 3, 8), blocks(TensorType::Q8_0, 4, 9)];
        let x = rows(1, SUPER_BLOCK, 10);
        let mut g = Graph::default();
        let input = given(&mut g, &tensor(&[1, SUPER_BLOCK], x.clone()));
        let nodes = weights.each_ref().map(|weight| {
            let weight = assert_good("a weight", || g.weight(weight));
            assert_good("a product", || g.mul_mat(weight, input))
        });
        let mut products = Products::default();
        let mut out = [vec![0.0; 3], vec![0.0; 4]];
        let gone = vec![f32::NAN; SUPER_BLOCK];
        for ((node, numbers), out) in nodes.into_iter().zip([&x, &gone]).zip(&mut out) {
            products.multiply(&g, node, [&[], numbers], &plan, out);
        }
        assert!(
            out == by_hand(&weights, &x, &plan),
            "a second product of the same input, in {kind}, must use what the first one prepared\n \
              found    {:?}\n  expected {:?}",
            out[1],
            by_hand(&weights, &x, &plan)[1]
        );
    }
}

/// Returns the two random inputs of pass `pass`.
fn inputs_of(pass: u64) -> [Vec<f32>; 2] {
    [rows(1, SUPER_BLOCK, 20 + pass), rows(1, SUPER_BLOCK, 30 + pass)]
}

/// A prepared input is not valid in the next pass, nor for another node.
#[test]
fn task_3_prepared_input_is_valid_for_one_node_and_pass() {
    let plan = int8_plan();
    let weights = [blocks(TensorType::Q8_0, 3, 15), blocks(TensorType::Q8_0, 3, 16)];
    let mut executor = Executor::default();
    for pass in 0..3 {
        let xs = inputs_of(pass);
        let mut g = Graph::default();
        let inputs = xs.each_ref().map(|x| given(&mut g, &tensor(&[1, SUPER_BLOCK], x.clone())));
        let [a, b] = weights.each_ref().map(|weight| assert_good("a weight", || g.weight(weight)));
        let products = [(a, 0), (b, 1), (b, 0), (a, 1), (b, 0)].map(|(weight, input)| {
            (input, weight, assert_good("a product", || g.mul_mat(weight, inputs[input])))
        });
        assert_accepts("five products", || run(&mut executor, &g, &as_made(&g), &plan));
        // For each product: its input, its node, the found numbers, the expected ones, those with
        // the other input, and those with the previous pass's input.
        let all = products.map(|(input, weight, node)| {
            let with = |xs: &[Vec<f32>; 2], input: usize| {
                let [of_a, of_b] = by_hand(&weights, &xs[input], &plan);
                if weight == a { of_a } else { of_b }
            };
            let stale = pass.checked_sub(1).map(|before| with(&inputs_of(before), input));
            let found = executor.values(&g, node).to_vec();
            (input, node, found, with(&xs, input), with(&xs, 1 - input), stale)
        });
        let all_stale = all.iter().all(|(_, _, found, _, _, stale)| stale.as_ref() == Some(found));
        for (input, node, found, expected, other, stale) in &all {
            let diagnosis = if all_stale {
                "All five products are from the previous pass. Compute every node again in each \
                 pass, whatever is in its buffer."
            } else if stale.as_ref() == Some(found) {
                "You use an input that was prepared in an earlier pass. Call `forget` when a pass \
                starts."
            } else if found == other {
                "Your product uses another node's prepared input. Compare the node in `prepared` \
                with the product's second source."
            } else {
                ""
            };
            let lead = if diagnosis.is_empty() { "" } else { "\n  diagnosis " };
            assert!(
                found == expected,
                "pass {pass}, the product at node {}, which reads input {input}\n  found    \
                 {found:?}\n  expected {expected:?}{lead}{diagnosis}",
                node.index()
            );
        }
    }
}

/// Multiplies rows that are not contiguous, by a weight and by other values. The weight is first
/// multiplied by the same rows in their original order.
#[test]
fn task_3_mul_mat_of_noncontiguous_rows() {
    let mut g = Graph::default();
    let x = leaf(&mut g, &[4, 3, 2]);
    let turned = assert_good("permute of [4, 3, 2] to [4, 2, 3]", || g.permute(x, [0, 2, 1, 3]));
    let copy = assert_good("a contiguous copy of a permuted node", || g.contiguous(turned));
    let w = weight(&mut g, &tensor(&[5, 4], super::numbers(20)));
    let values = leaf(&mut g, &[4, 5]);
    let products = [(w, x), (w, turned), (w, copy), (values, turned), (values, copy)]
        .map(|(a, b)| assert_good("a product", || g.mul_mat(a, b)));
    let mut executor = Executor::default();
    assert_accepts("five products", || {
        run(&mut executor, &g, &as_made(&g), &plan(Rung::Naive, 1));
    });
    let [_, found, expected, by_values, too] = products.map(|id| executor.values(&g, id).to_vec());
    assert_answer("a weight times rows that are not contiguous", &found, &expected);
    assert_answer("numbers times rows that are not contiguous", &by_values, &too);
}

/// One executor runs larger and smaller graphs in turns.
#[test]
fn task_3_executor_runs_graphs_of_different_sizes() {
    let mut executor = Executor::default();
    for n in [5, 2, 7, 2] {
        let mut g = Graph::default();
        let x = leaf(&mut g, &[n]);
        let double = assert_good("a sum", || g.add(x, x));
        let four = assert_good("a sum", || g.add(double, double));
        assert_accepts(&format!("4 · x for {n} numbers x"), || {
            run(&mut executor, &g, &as_made(&g), &plan(Rung::Naive, 2));
        });
        let expected: Vec<f32> = super::numbers(n).iter().map(|x| 4.0 * x).collect();
        assert_answer(
            &format!("4 · x for {n} numbers x"),
            &executor.values(&g, four).to_vec(),
            &expected,
        );
    }
}
