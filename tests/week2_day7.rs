//! Week 2, day 7: softmax in pieces, attention in one pass, and a decoded token that allocates
//! nothing.
//!
//! Expected values: `python-ref/oracle/week2_day7.py`.

use std::{ops::Range, sync::Arc};

use half::f16;
use tiny_llm::week2::{
    blocks::quantize_row,
    cache::{CacheType, Cells, Run},
    generate::Session,
    kernels::Rung,
    load::{Rope, build},
    matrix::Matrix,
    model::Model,
    parallel::Team,
    plan::{AttentionKind, Plan},
    rope::RopeLayout,
    streaming::{OnlineSoftmax, Query, attend_block, attend_streaming},
};
use tiny_llm_formats::{Tensor, config::ModelConfig, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    allocations::{CountingAllocator, count},
    check::{Part, assert_accepts, assert_agrees, assert_panics, resting_on},
    fixtures::{Case, Fixtures, random},
};

#[path = "parts/attention.rs"]
mod by_definition;
#[path = "week2_day7/drawn.rs"]
mod drawn;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day7")
}

fn values(x: &Tensor) -> Vec<f32> {
    x.iter().copied().collect()
}

// Task 1: softmax in pieces

#[track_caller]
fn check_absorb(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_absorb/{case}"));
    let mut softmax = OnlineSoftmax::default();
    let absorb = |i: usize| {
        let mut scores = values(&case.tensor(&format!("scores_{i}")));
        let factor = softmax.absorb(&mut scores);
        (i, [softmax.max, softmax.total, factor], scores)
    };
    let mut pieces: Vec<_> = (0..case.count("pieces")).map(absorb).collect();
    if case.name().ends_with("empty") && pieces[2].1[2] == 0.0 {
        // A factor of 0 between other pieces says more than one where nothing has been seen.
        pieces.rotate_left(2);
    }
    for (i, state, scores) in pieces {
        case.check_rows(
            &format!("state_{i}"),
            &[
                "the maximum".to_owned(),
                "the total".to_owned(),
                "the factor that is returned".to_owned(),
            ],
            &tensor(&[3], state.to_vec()),
        );
        case.check(&format!("weights_{i}"), &tensor(&[scores.len()], scores));
    }
}

#[test]
fn task_1_absorb_rising_scores() {
    check_absorb("rising");
}

#[test]
fn task_1_absorb_falling_scores() {
    check_absorb("falling");
}

#[test]
fn task_1_absorb_large_scores() {
    check_absorb("large");
}

#[test]
fn task_1_absorb_very_negative_scores() {
    check_absorb("very_negative");
}

#[test]
fn task_1_absorb_a_masked_piece_first() {
    check_absorb("masked_first");
}

#[test]
fn task_1_absorb_a_masked_piece_last() {
    check_absorb("masked_last");
}

#[test]
fn task_1_absorb_empty_pieces() {
    check_absorb("empty");
}

// Tasks 2 and 3: attention in one pass

#[test]
fn task_1_absorb_scores_of_any_size() {
    for far in [-2000.0, -1e6, 1e6] {
        let mut softmax = OnlineSoftmax::default();
        let mut scores = [far, far - 1.0];
        let factor = softmax.absorb(&mut scores);
        let expected = (far, 1.0 + (-1f32).exp(), 0.0, [1.0, (-1f32).exp()]);
        let near = |found: f32, expected: f32| (found - expected).abs() <= 1e-6;
        assert!(
            softmax.max == expected.0
                && near(softmax.total, expected.1)
                && near(factor, expected.2)
                && near(scores[0], expected.3[0])
                && near(scores[1], expected.3[1]),
            "absorb [{far}, {far} − 1] first: found maximum {}, total {}, factor {factor} and weights {scores:?}, expected {expected:?}: only −∞ is hidden",
            softmax.max,
            softmax.total
        );
    }
}

/// Forty runs, or one, of 600 positions with the same key; of the values, that of one position is 1.
#[track_caller]
fn check_every_position(what: &str, attend: impl Fn(&[Run<'_>]) -> Vec<f32>) {
    let keys = [0.0; 600];
    for runs in [1, 40] {
        let len = 600 / runs;
        for position in [0, 299, 300, 599] {
            let mut values = [0.0; 600];
            values[position] = 1.0;
            let run = |i: usize| Run {
                start: i * len,
                len,
                keys: Cells::F32(&keys[i * len..(i + 1) * len]),
                values: Cells::F32(&values[i * len..(i + 1) * len]),
            };
            let runs: Vec<Run> = (0..runs).map(run).collect();
            for found in attend(&runs) {
                assert!(
                    (found - 1.0 / 600.0).abs() <= 1e-6,
                    "{what} over 600 equal keys in {} runs, where the value of position {position} alone is 1: found {found}, expected 1/600",
                    runs.len()
                );
            }
        }
    }
}

#[test]
fn task_2_attend_streaming_whatever_the_runs() {
    check_every_position("attend_streaming", |runs| {
        let mut out = vec![BEFORE; 3];
        attend_streaming(&[1.0; 3], runs.iter().copied(), 1, 1.0, &mut out);
        out
    });
}

#[test]
fn task_3_attend_block_whatever_the_runs() {
    check_every_position("attend_block", |runs| {
        let queries = [const { Query { q: &[1.0], visible: 0..600 } }; 3];
        let mut out = vec![BEFORE; 3];
        attend_block(&queries, runs.iter().copied(), 1, 1.0, &mut out);
        out
    });
}

const ABSORB: &Part =
    &Part { task: "week2-day7 task 1", what: "softmax in pieces", check: check_every_absorb };

fn check_every_absorb() {
    ["rising", "falling", "large", "masked_first", "masked_last"]
        .into_iter()
        .for_each(check_absorb);
}

/// Keys and values of a case, as they would lie in a cache.
struct Stored {
    keys: (Vec<f32>, Vec<f16>),
    values: (Vec<f32>, Vec<f16>),
    half: bool,
    runs: Vec<usize>,
    dim: usize,
}

impl Stored {
    fn of(case: &Case) -> Self {
        let both = |name: &str| {
            let x = values(&case.tensor(name));
            let halves = x.iter().map(|&x| f16::from_f32(x)).collect();
            (x, halves)
        };
        let runs = case
            .value("runs")
            .as_array()
            .expect("a list")
            .iter()
            .map(|n| n.as_u64().expect("a length") as usize)
            .collect();
        let half = case.value("half").as_bool().expect("yes or no");
        Self {
            keys: both("keys"),
            values: both("values"),
            half,
            runs,
            dim: case.tensor("keys").shape()[1],
        }
    }

    fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut start = 0;
        self.runs.iter().map(move |&len| {
            let range = start * self.dim..(start + len) * self.dim;
            start += len;
            Run {
                start: start - len,
                len,
                keys: cells(&self.keys, range.clone(), self.half),
                values: cells(&self.values, range, self.half),
            }
        })
    }
}

fn cells(numbers: &(Vec<f32>, Vec<f16>), range: Range<usize>, half: bool) -> Cells<'_> {
    if half { Cells::F16(&numbers.1[range]) } else { Cells::F32(&numbers.0[range]) }
}

/// What stands in the output before, which must not matter. The first factor is 0, which would hide
/// any other number.
const BEFORE: f32 = f32::NAN;

/// The output of `attend`, in which stood [`BEFORE`].
#[track_caller]
fn whatever_was_there(n: usize, attend: impl Fn(&mut [f32])) -> Vec<f32> {
    let [over_zeros, out] = [0.0, BEFORE].map(|before| {
        let mut out = vec![before; n];
        attend(&mut out);
        out
    });
    let stays = |i: &usize| out[*i].is_nan() && !over_zeros[*i].is_nan();
    let first = (0..n).find(stays);
    assert!(
        first.is_none(),
        "output that held NaN before the call: {} of {n} numbers are NaN, the first at {}; over zeros \
         they are not\n  diagnosis the output holds NaN before the call: what is added to it, or not \
         written, stays NaN.",
        (0..n).filter(stays).count(),
        first.unwrap_or_default()
    );
    out
}

#[track_caller]
fn check_streaming(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_2_attend_streaming/{case}"));
    let (q, stored) = (case.tensor("q"), Stored::of(&case));
    let (numbers, scale) = (values(&q), case.scalar("scale") as f32);
    let heads: Vec<String> = (0..q.shape()[0]).map(|g| format!("head {g}")).collect();
    resting_on(&[ABSORB], || {
        let out = whatever_was_there(q.len(), |out| {
            attend_streaming(&numbers, stored.runs(), stored.dim, scale, out);
        });
        case.check_rows("output", &heads, &tensor(q.shape(), out));
    });
}

#[test]
fn task_2_attend_streaming_over_one_position() {
    check_streaming("one_position");
}

#[test]
fn task_2_attend_streaming_over_one_tile() {
    check_streaming("one_tile");
}

#[test]
fn task_2_attend_streaming_over_two_tiles_and_one() {
    check_streaming("tiles_and_one");
}

#[test]
fn task_2_attend_streaming_over_rising_scores() {
    check_streaming("rising");
}

#[test]
fn task_2_attend_streaming_over_runs() {
    check_streaming("runs");
}

#[test]
fn task_2_attend_streaming_over_1000_positions_in_f16() {
    check_streaming("half");
}

#[test]
fn task_2_attend_streaming_with_a_wide_head() {
    check_streaming("wide_head");
}

#[test]
fn task_2_attend_streaming_over_large_scores() {
    check_streaming("sharp");
}

#[test]
fn task_2_attend_streaming_allocates_nothing() {
    for (heads, dim, len, half) in [(4, 64, 2000, false), (16, 6, 70, true), (1, 256, 33, true)] {
        let numbers = |seed| {
            let x = values(&random(seed, &[len * dim]));
            let halves = x.iter().map(|&x| f16::from_f32(x)).collect();
            (x, halves)
        };
        let (k, v) = (numbers(2), numbers(3));
        let q = values(&random(1, &[heads * dim]));
        let mut out = vec![0.0; heads * dim];
        let mut run = || {
            let part = |start: usize, len: usize| {
                let range = start * dim..(start + len) * dim;
                Run {
                    start,
                    len,
                    keys: cells(&k, range.clone(), half),
                    values: cells(&v, range, half),
                }
            };
            let runs = [part(0, 32), part(32, len - 32)].into_iter();
            attend_streaming(&q, runs, dim, 0.125, &mut out);
        };
        run();
        let (allocations, ()) = count(&mut run);
        assert!(
            allocations == 0,
            "heap allocations of one call over {len} positions, {heads} heads of {dim}, in {}: found {allocations}, expected none",
            if half { "f16" } else { "f32" }
        );
    }
}

/// Attention of `n` queries `[n, D]` over a single position, whose value `[D]` is then the answer
/// of each.
struct OnePosition {
    q: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    out: Vec<f32>,
}

impl OnePosition {
    fn new(n: usize, dim: usize) -> Self {
        Self {
            q: values(&random(1, &[n, dim])),
            key: values(&random(2, &[dim])),
            value: values(&random(3, &[dim])),
            out: vec![BEFORE; n * dim],
        }
    }

    fn stream(mut self) -> Self {
        let run =
            Run { start: 0, len: 1, keys: Cells::F32(&self.key), values: Cells::F32(&self.value) };
        attend_streaming(&self.q, std::iter::once(run), self.key.len(), 0.0625, &mut self.out);
        self
    }

    fn block(mut self) -> Self {
        let run =
            Run { start: 0, len: 1, keys: Cells::F32(&self.key), values: Cells::F32(&self.value) };
        let queries: Vec<Query> =
            self.q.chunks_exact(self.key.len()).map(|q| Query { q, visible: 0..1 }).collect();
        attend_block(&queries, std::iter::once(run), self.key.len(), 0.0625, &mut self.out);
        self
    }

    #[track_caller]
    fn check(&self, who: &str) {
        for (i, found) in self.out.chunks_exact(self.value.len()).enumerate() {
            assert!(
                found == self.value,
                "a single position has all the weight, so its value is the output; that of {who} \
                 {i} is not"
            );
        }
    }
}

#[test]
fn task_2_attend_streaming_takes_16_heads_of_256() {
    assert_accepts("16 heads of 256 values", || OnePosition::new(16, 256).stream()).check("head");
}

#[test]
fn task_2_attend_streaming_refuses_a_head_of_257() {
    assert_panics("a head of 257 values", || OnePosition::new(1, 257).stream());
}

#[test]
fn task_2_attend_streaming_refuses_17_heads() {
    assert_panics("17 heads", || OnePosition::new(17, 8).stream());
}

#[track_caller]
fn check_block(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_attend_block/{case}"));
    let (q, stored) = (case.tensor("q"), Stored::of(&case));
    let numbers = values(&q);
    let visible = case.value("visible").as_array().expect("a list");
    let queries: Vec<Query> = numbers
        .chunks_exact(stored.dim)
        .zip(visible)
        .map(|(q, visible)| {
            let position = |i: usize| visible[i].as_u64().expect("a position") as usize;
            Query { q, visible: position(0)..position(1) }
        })
        .collect();
    // A cache hands out what somebody sees.
    let runs = || {
        stored.runs().filter(|run| {
            let overlaps =
                |seen: &Range<usize>| seen.start < run.start + run.len && run.start < seen.end;
            queries.iter().any(|query| overlaps(&query.visible))
        })
    };
    let rows: Vec<String> =
        queries.iter().map(|query| format!("the query that sees {:?}", query.visible)).collect();
    let scale = case.scalar("scale") as f32;
    resting_on(&[ABSORB], || {
        let out = whatever_was_there(q.len(), |out| {
            attend_block(&queries, runs(), stored.dim, scale, out);
        });
        case.check_rows("output", &rows, &tensor(q.shape(), out));
    });
}

#[test]
fn task_3_attend_block_is_causal() {
    check_block("causal");
}

#[test]
fn task_3_attend_block_of_a_whole_prompt() {
    check_block("whole_prompt");
}

#[test]
fn task_3_attend_block_of_two_heads() {
    check_block("heads_of_a_group");
}

#[test]
fn task_3_attend_block_at_the_edges_of_tiles() {
    check_block("tile_edge");
}

#[test]
fn task_3_attend_block_over_runs() {
    check_block("runs");
}

#[test]
fn task_3_attend_block_within_windows() {
    check_block("windows");
}

/// Which query stands first says nothing of what the others see, and a head may have any size.
#[test]
fn task_3_attend_block_in_any_order_and_with_heads_of_any_size() {
    let seen = [60..70, 0..100, 33..34, 3..40, 90..97, 0..1, 31..65, 99..100];
    for dim in [8, 6, 20, 1, 84] {
        let (q, keys, values_of) =
            (values(&random(1, &[8, dim])), random(2, &[100, dim]), random(3, &[100, dim]));
        let (keys, values_of) = (values(&keys), values(&values_of));
        let attend = |order: &[usize]| {
            let queries: Vec<Query> = order
                .iter()
                .map(|&i| Query { q: &q[i * dim..(i + 1) * dim], visible: seen[i].clone() })
                .collect();
            let run = |start: usize, len: usize| Run {
                start,
                len,
                keys: Cells::F32(&keys[start * dim..(start + len) * dim]),
                values: Cells::F32(&values_of[start * dim..(start + len) * dim]),
            };
            let mut out = vec![BEFORE; order.len() * dim];
            let runs = [run(0, 64), run(64, 36)].into_iter();
            attend_block(&queries, runs, dim, 0.5, &mut out);
            out
        };
        let expected: Vec<f32> = (0..8)
            .flat_map(|i| {
                // By its definition, in f64.
                let row = |x: &[f32], p: usize| -> Vec<f64> {
                    x[p * dim..(p + 1) * dim].iter().map(|&x| f64::from(x)).collect()
                };
                let query = row(&q, i);
                let weight = |p: usize| -> f64 {
                    let score: f64 = query.iter().zip(row(&keys, p)).map(|(q, k)| q * k).sum();
                    (0.5 * score).exp()
                };
                let total: f64 = seen[i].clone().map(weight).sum();
                let mut out = vec![0.0; dim];
                for p in seen[i].clone() {
                    for (out, value) in out.iter_mut().zip(row(&values_of, p)) {
                        *out += weight(p) / total * value;
                    }
                }
                out.into_iter().map(|x| x as f32).collect::<Vec<f32>>()
            })
            .collect();
        for order in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [4, 1, 5, 0, 7, 3, 6, 2]]
        {
            let seen: Vec<_> = order.iter().map(|&i| seen[i].clone()).collect();
            let what = format!(
                "attend_block of eight queries with heads of {dim}, which see the positions {seen:?}"
            );
            let found = assert_accepts(&what, || attend(&order));
            let expected: Vec<f32> =
                order.iter().flat_map(|&i| expected[i * dim..(i + 1) * dim].to_vec()).collect();
            resting_on(&[ABSORB], || {
                assert_agrees(
                    &what,
                    &tensor(&[8, dim], found),
                    &tensor(&[8, dim], expected),
                    1e-4,
                    "each query sees its own positions, and each head has all its numbers",
                );
            });
        }
    }
}

#[test]
fn task_2_attend_streaming_with_heads_of_any_size() {
    for dim in [1, 6, 20, 84] {
        let [q, keys, stored] =
            [(1, 2), (2, 40), (3, 40)].map(|(s, n)| values(&random(s, &[n, dim])));
        let attend = |dim: usize, q: &[f32], keys: &[f32], stored: &[f32]| {
            let (keys, values) = (Cells::F32(keys), Cells::F32(stored));
            let run = Run { start: 0, len: 40, keys, values };
            let mut out = vec![BEFORE; q.len()];
            attend_streaming(q, std::iter::once(run), dim, 0.5, &mut out);
            out
        };
        // The same heads with zeros behind them, up to a multiple of 32.
        let wide = dim.next_multiple_of(32);
        let padded = |x: &[f32]| -> Vec<f32> {
            let rows = x.chunks_exact(dim);
            rows.flat_map(|row| [row, &vec![0.0; wide - dim]].concat()).collect()
        };
        let what =
            format!("attend_streaming with heads of {dim}, compared with zeros up to {wide}");
        let found = assert_accepts(&what, || attend(dim, &q, &keys, &stored));
        let expected = attend(wide, &padded(&q), &padded(&keys), &padded(&stored));
        let expected: Vec<f32> =
            expected.chunks_exact(wide).flat_map(|row| row[..dim].to_vec()).collect();
        resting_on(&[ABSORB], || {
            assert_agrees(
                &what,
                &tensor(&[2, dim], found),
                &tensor(&[2, dim], expected),
                1e-5,
                "zeros behind the numbers of a head change nothing",
            );
        });
    }
}

#[test]
fn task_3_attend_block_over_runs_that_begin_later() {
    check_block("run_given_back");
}

#[test]
fn task_3_attend_block_takes_128_queries_of_256() {
    assert_accepts("128 queries of 256 values", || OnePosition::new(128, 256).block())
        .check("query");
}

#[test]
fn task_3_attend_block_refuses_129_queries() {
    assert_panics("129 queries", || OnePosition::new(129, 8).block());
}

#[test]
fn task_3_attend_block_refuses_a_head_of_257() {
    assert_panics("a head of 257 values", || OnePosition::new(1, 257).block());
}

/// A decoder of two layers with random weights in f32: four query heads on two key and value heads
/// of 16.
fn model() -> Arc<Model> {
    model_in(TensorType::F32)
}

/// The same, its matrices in another type.
fn model_in(tensor_type: TensorType) -> Arc<Model> {
    let json = r#"{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 96, "vocab_size": 50, "hidden_act": "silu", "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": true}"#;
    let config = ModelConfig::from_json(json, "config.json").expect("a plain configuration");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let mut seed = 0;
    let mut matrix = |name: &str, shape: &[usize]| {
        seed += 1;
        let norm = name.ends_with("norm.weight");
        // Weights of this size keep the residual stream at about 1 and scores at a few units.
        let numbers: Vec<f32> = random(seed, shape)
            .iter()
            .map(|x| if norm { 1.0 + 0.2 * x } else { 0.2 * x })
            .collect();
        let [rows, cols] = *shape else { return Ok(Matrix::from_f32(1, shape[0], &numbers)) };
        let mut bytes = vec![0; tensor_type.row_bytes(rows * cols).expect("rows of whole blocks")];
        quantize_row(tensor_type, &numbers, &mut bytes);
        Matrix::new(rows, cols, tensor_type, bytes.into())
    };
    Arc::new(build(config, &rope, 256, &mut matrix).expect("every weight is there"))
}

/// Logits `[V]` after 75 tokens.
fn logits(attention: AttentionKind, cache_type: CacheType, chunk: usize) -> Tensor {
    let tokens: Vec<u32> = (0..75).map(|i| i * 7919 % 50).collect();
    let plan = Arc::new(Plan { kernels: Rung::Naive.into(), attention, team: Team::new(1) });
    let mut session = Session::new(model(), plan, 128, cache_type);
    let logits = session.feed(&tokens, chunk).expect("75 tokens fit").to_vec();
    tensor(&[logits.len()], logits)
}

#[test]
fn task_3_the_model_says_the_same_with_either_attention() {
    let expected = logits(AttentionKind::TwoPass, CacheType::F32, 75);
    for chunk in [1, 33, 75] {
        // Logits are below 16: some hundred roundings of 2^-24 of that in two layers.
        let found = logits(AttentionKind::Streaming, CacheType::F32, chunk);
        let property = format!(
            "streaming attention in chunks of {chunk} is two-pass attention, up to rounding"
        );
        assert_agrees("logits", &found, &expected, 1e-4, &property);
    }
}

#[test]
fn task_3_an_f16_cache_changes_little() {
    let full = logits(AttentionKind::Streaming, CacheType::F32, 75);
    let half = logits(AttentionKind::Streaming, CacheType::F16, 75);
    // f16 keeps 11 bits: each key and value is up to 2^-12 of itself off, and so, with many of
    // them, is each logit of up to 16 many times over.
    assert_agrees(
        "logits",
        &half,
        &full,
        0.05,
        "rounding keys and values to f16 moves logits by hundredths",
    );
    assert!(values(&half) != values(&full), "the cache did not round at all");
}

#[test]
fn task_3_integers_change_little() {
    let model = model_in(TensorType::Q8_0);
    let logits = |rung: Rung| {
        let kernels = rung.into();
        let plan =
            Arc::new(Plan { kernels, attention: AttentionKind::Streaming, team: Team::new(1) });
        let logits = Session::new(Arc::clone(&model), plan, 8, CacheType::F32)
            .feed(&[3, 1, 4, 1, 5], 5)
            .expect("five tokens fit")
            .to_vec();
        tensor(&[logits.len()], logits)
    };
    // Activations are rounded to a part in 254 of the largest of 32, in each of eight products one
    // after the other.
    let property = "activations as int8 move logits by hundredths: each input is made into \
                    integers after it was written, also the output projection's (`Plan::matmul`)";
    assert_agrees(
        "logits, integer against naive",
        &logits(Rung::Integer),
        &logits(Rung::Naive),
        0.4,
        property,
    );
}

#[test]
fn task_3_a_decoded_token_allocates_nothing() {
    let plan = Arc::new(Plan {
        kernels: Rung::Fused.into(),
        attention: AttentionKind::Streaming,
        team: Team::new(1),
    });
    let mut session = Session::new(model(), plan, 256, CacheType::F16);
    session.feed(&[1, 2, 3, 4, 5], 5).expect("five tokens fit");
    session.feed(&[6], 1).expect("a sixth token fits");
    let most = (0..40)
        .map(|i| count(|| session.feed(&[i + 7], 1).map(<[f32]>::len)).0)
        .max()
        .expect("forty counts");
    assert!(
        most == 0,
        "heap allocations of one decoded token after the first: found {most}, expected none"
    );
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day7.rs"]
mod fresh;
