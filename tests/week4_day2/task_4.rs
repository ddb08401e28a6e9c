//! Week 4, day 2, task 4: models as graphs.

use tiny_llm::{
    week2::{
        cache::{DenseCache, KvCache as _},
        kernels::{Choice, Rung},
        matrix::Matrix,
        model::{Model, Workspace},
        plan::{AttentionKind, Plan},
        rows::Row,
    },
    week4::{
        engine::GraphEngine,
        llama::{PassShape, build},
        op::Op,
    },
};
use tiny_llm_formats::{Tensor, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    allocations::count,
    check::{assert_accepts, assert_answer, resting_on},
    fixtures::Fixtures,
};

use super::{EXECUTION, NODES, ORDER, cache_of, models::of_case, plan};
use tiny_llm_harness::messages::{assert_good, assert_refused};

const PARTS: [&super::Part; 3] = [NODES, ORDER, EXECUTION];

/// Returns rows of sequence 0 from position `start` on. All request logits.
fn rows(tokens: &[u32], start: usize) -> Vec<Row> {
    let row = |(i, &token)| Row { token, position: start + i, sequence: 0, logits: true };
    tokens.iter().enumerate().map(row).collect()
}

#[test]
fn task_4_models_match_pytorch() {
    let fixtures = Fixtures::open("week4_day2");
    for name in fixtures.cases("task_4_model/") {
        let case = fixtures.case(&name);
        resting_on(&PARTS, || {
            let model = of_case(&case, Matrix::from_f32);
            let tokens = case.ids("tokens");
            let mut engine = GraphEngine::default();
            let (mut cache, mut found) = (f32_cache(&model), Vec::new());
            for (start, end) in [(0, 3), (3, 4), (4, 7)] {
                let rows = rows(&tokens[start..end], start);
                let logits = assert_good(&name, || {
                    let plan = plan(Rung::Naive, 1);
                    engine.forward(&model, &rows, &mut cache, &plan).map(<[f32]>::to_vec)
                });
                found.extend(logits);
            }
            let found: Tensor = tensor(&[tokens.len(), model.config.vocab_size], found);
            case.check("logits", &found);
        });
    }
}

fn f32_cache(model: &Model) -> DenseCache {
    DenseCache::new(cache_of(model, 1).shape(), tiny_llm::week2::cache::CacheType::F32)
}

/// Returns passes with rows of several sequences. Some rows request logits.
fn passes() -> Vec<Vec<Row>> {
    let row = |token, position, sequence, logits| Row { token, position, sequence, logits };
    vec![
        vec![row(3, 0, 0, false), row(5, 1, 0, false), row(7, 2, 0, true), row(2, 0, 1, true)],
        vec![row(1, 3, 0, true), row(9, 1, 1, true)],
        vec![row(4, 4, 0, true), row(6, 2, 1, true)],
        vec![row(8, 5, 0, true)],
        vec![row(2, 3, 1, false), row(3, 4, 1, true), row(1, 6, 0, false)],
    ]
}

/// Checks that the logits are those of week 2's engine, bit for bit.
#[track_caller]
fn same_as_week_2(what: &str, model: &Model, plan: &Plan) {
    let (mut ours, mut theirs) = (cache_of(model, 2), cache_of(model, 2));
    let (mut engine, mut work) = (GraphEngine::default(), Workspace::default());
    for (i, rows) in passes().iter().enumerate() {
        let expected: Vec<u32> =
            model.forward(rows, &mut theirs, plan, &mut work).iter().map(|x| x.to_bits()).collect();
        let found =
            assert_good(what, || engine.forward(model, rows, &mut ours, plan).map(<[f32]>::to_vec));
        let found: Vec<u32> = found.iter().map(|x| x.to_bits()).collect();
        let differ = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
        assert!(
            found.len() == expected.len() && differ == 0,
            "{what}, pass {i}: {differ} of {} logits differ from week 2's engine. Compute the same \
             sums in the same order",
            expected.len()
        );
    }
}

#[test]
fn task_4_f32_logits_equal_week_2_bit_for_bit() {
    let fixtures = Fixtures::open("week4_day2");
    for name in fixtures.cases("task_4_model/") {
        let case = fixtures.case(&name);
        resting_on(&PARTS, || {
            let model = of_case(&case, Matrix::from_f32);
            for threads in [1, 2] {
                for attention in [AttentionKind::TwoPass, AttentionKind::Streaming] {
                    let plan = Plan { attention, ..plan(Rung::Naive, threads) };
                    same_as_week_2(
                        &format!("{name}, {attention}, {threads} threads"),
                        &model,
                        &plan,
                    );
                }
            }
        });
    }
}

/// With integer kernels, the last bits depend on which inputs are prepared for which weights.
#[test]
fn task_4_q8_0_logits_equal_week_2_bit_for_bit() {
    let fixtures = Fixtures::open("week4_day2");
    for name in fixtures.cases("task_4_model/") {
        let case = fixtures.case(&name);
        resting_on(&PARTS, || {
            let model = of_case(&case, |rows, cols, values| {
                if rows == 1 || cols % 32 != 0 {
                    return Matrix::from_f32(rows, cols, values);
                }
                let bytes: Vec<u8> = values.chunks_exact(32).flat_map(q8_0).collect();
                Matrix::new(rows, cols, TensorType::Q8_0, bytes.into()).expect("whole blocks")
            });
            let mut plan = plan(Rung::Naive, 1);
            plan.kernels = Choice::from(Rung::Integer);
            same_as_week_2(&name, &model, &plan);
        });
    }
}

/// Returns a block of Q8_0 whose scale is a power of two.
fn q8_0(values: &[f32]) -> Vec<u8> {
    let scale = half(values.iter().fold(0f32, |m, x| m.max(x.abs())) / 127.0);
    let mut bytes = scale.0.to_vec();
    bytes.extend(values.iter().map(|x| (x / scale.1).round().clamp(-127.0, 127.0) as i8 as u8));
    bytes
}

/// Returns a power of two that is at least `x`, as f16 bytes and as f32.
fn half(x: f32) -> ([u8; 2], f32) {
    let exponent = x.max(1e-4).log2().ceil() as i32;
    (((exponent + 15) as u16 * 1024).to_le_bytes(), (exponent as f32).exp2())
}

/// The name of a node begins with its layer. After the last layer, the prefix is reset.
#[test]
fn task_4_node_names_begin_with_their_layer() {
    let fixtures = Fixtures::open("week4_day2");
    let model = of_case(&fixtures.case("task_4_model/llama"), Matrix::from_f32);
    let (g, logits) = assert_good("build", || build(&model, PassShape { rows: 2, wanted: 1 }));
    let stores = g.ids().filter(|&id| g.node(id).op.name() == "store");
    let found: Vec<String> = stores.map(|id| g.node(id).name.chars().take(9).collect()).collect();
    let expected: Vec<String> = (0..model.layers.len()).map(|i| format!("layer {i}: ")).collect();
    assert_answer("the start of the names of the store nodes", &found, &expected);
    for (what, id) in [("the first node", g.ids().next().expect("a node")), ("the logits", logits)]
    {
        let name = &g.node(id).name;
        assert!(
            !name.starts_with("layer "),
            "{what}: found the name {name:?}, but this node belongs to no layer. Reset the prefix"
        );
    }
}

/// While the size of a pass stays the same, the graph is reused and nothing is allocated.
#[test]
fn task_4_graph_is_reused_for_passes_of_one_size() {
    let case = Fixtures::open("week4_day2").case("task_4_model/qwen3");
    resting_on(&PARTS, || {
        let model = of_case(&case, Matrix::from_f32);
        let (mut engine, mut cache) = (GraphEngine::default(), cache_of(&model, 1));
        // Attention in one pass, which needs no additional memory.
        let plan = Plan { attention: AttentionKind::Streaming, ..plan(Rung::Fused, 1) };
        let all = case.ids("tokens");
        for (i, part) in [&all[..2], &all[2..4], &all[4..5], &all[5..6]].into_iter().enumerate() {
            let rows = rows(part, cache.len(0));
            let (allocations, _) = count(|| {
                assert_good("forward of a pass", || {
                    engine.forward(&model, &rows, &mut cache, &plan).map(<[f32]>::len)
                })
            });
            assert_answer(
                &format!("number of graphs built by the end of pass {i} ({} rows)", part.len()),
                &engine.graphs(),
                &if i < 2 { 1 } else { 2 },
            );
            assert!(
                i < 3 || allocations == 0,
                "a second pass of one row: found {allocations} heap allocations, expected none. \
                 Keep buffers from pass to pass"
            );
        }
    });
}

/// A layer stores its keys and values before its attention, in any order.
#[test]
fn task_4_each_layer_stores_before_attention() {
    let fixtures = Fixtures::open("week4_day2");
    for name in fixtures.cases("task_4_model/") {
        let case = fixtures.case(&name);
        let model = of_case(&case, Matrix::from_f32);
        let shape = PassShape { rows: 3, wanted: 1 };
        let (g, logits) = assert_good(&name, || build(&model, shape));
        assert_answer(
            &format!("{name}: sizes of the logits"),
            &g.layout(logits).ne,
            &[model.config.vocab_size, 1, 1, 1],
        );
        let order = assert_accepts(&name, || g.order(&[logits]));
        for layer in 0..model.config.n_layers {
            let place = |found: &dyn Fn(&Op) -> bool| {
                let mut places = (0..order.len()).filter(|&at| found(&g.node(order[at]).op));
                (places.next(), places.next())
            };
            let stored = place(&|op| matches!(op, Op::Store { layer: other } if *other == layer));
            let attended =
                place(&|op| matches!(op, Op::Attend { layer: other } if *other == layer));
            assert!(
                stored.0.is_some()
                    && stored.0 < attended.0
                    && stored.1.is_none()
                    && attended.1.is_none(),
                "{name}, layer {layer}: found its store at {stored:?} and its attention at \
                 {attended:?} in the order (first and second occurrence). Expected one of each, \
                 the store first"
            );
        }
    }
}

#[test]
fn task_4_build_rejects_invalid_pass_shapes() {
    let fixtures = Fixtures::open("week4_day2");
    let model = of_case(&fixtures.case("task_4_model/qwen2"), Matrix::from_f32);
    for shape in [PassShape { rows: 0, wanted: 0 }, PassShape { rows: 2, wanted: 3 }] {
        assert_refused(&format!("build with {shape:?}"), &[], || {
            build(&model, shape).map(|(_, id)| id)
        });
    }
}
