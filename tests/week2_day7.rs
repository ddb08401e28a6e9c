//! Week 2, day 7: softmax in pieces, attention in one pass, and a decoded token that allocates
//! nothing.
//!
//! Expected values: `python-ref/oracle/week2_day7.py`.

use half::f16;
use tiny_llm::week2::{
    cache::{Cells, Run},
    streaming::{OnlineSoftmax, Query, attend_block, attend_streaming},
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    allocations::CountingAllocator,
    check::Part,
    fixtures::{Case, Fixtures, random},
};

#[path = "parts/attention.rs"]
mod by_definition;
#[path = "week2_day7/drawn.rs"]
mod drawn;
/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day7.rs"]
mod fresh;
#[path = "week2_day7/task_1.rs"]
mod task_1;
#[path = "week2_day7/task_2.rs"]
mod task_2;
#[path = "week2_day7/task_3.rs"]
mod task_3;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day7")
}

fn values(x: &Tensor) -> Vec<f32> {
    x.iter().copied().collect()
}

#[track_caller]
fn check_absorb(case: &str) {
    let case = fixtures().case(&format!("task_1_absorb/{case}"));
    let mut softmax = OnlineSoftmax::default();
    let absorb = |i: usize| {
        let mut scores = case.numbers(&format!("scores_{i}"));
        let factor = softmax.absorb(&mut scores);
        (i, [softmax.max, softmax.total, factor], scores)
    };
    let mut pieces: Vec<_> = (0..case.count("pieces")).map(absorb).collect();
    if case.name().ends_with("empty") && pieces[2].1[2] == 0.0 {
        // A factor of 0 in the middle is more telling than one before any score, so those pieces
        // come first.
        pieces.rotate_left(2);
    }
    for (i, state, scores) in pieces {
        case.check_rows(
            &format!("state_{i}"),
            &["the maximum".to_owned(), "the total".to_owned(), "the returned factor".to_owned()],
            &tensor(&[3], state.to_vec()),
        );
        case.check(&format!("weights_{i}"), &tensor(&[scores.len()], scores));
    }
}

/// Checks attention over 600 equal keys, in one run or forty. One value is 1, all others are 0.
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
                    "{what} over 600 equal keys in {} runs, with a value of 1 at position \
                     {position} and 0 elsewhere: found {found}, expected 1/600",
                    runs.len()
                );
            }
        }
    }
}

const ABSORB: &Part =
    &Part { task: "week2-day7 task 1", what: "softmax in pieces", check: check_every_absorb };

fn check_every_absorb() {
    ["rising", "falling", "large", "masked_first", "masked_last"]
        .into_iter()
        .for_each(check_absorb);
}

fn drawn(seed: u64, n: usize) -> Vec<f32> {
    values(&random(seed, &[n]))
}

/// Keys and values `[n, D]` of the positions from `start` on, as a cache returns them: in runs.
struct Stored {
    keys: Vec<f32>,
    values: Vec<f32>,
    halves: Option<[Vec<f16>; 2]>,
    dim: usize,
    start: usize,
    lengths: Vec<usize>,
}

impl Stored {
    fn of(case: &Case) -> Self {
        let (keys, values) = (case.numbers("keys"), case.numbers("values"));
        let (dim, lengths) = (case.tensor("keys").shape()[1], case.read("runs"));
        Self { keys, values, halves: None, dim, start: 0, lengths }.rounded(case.read("half"))
    }

    fn drawn(seed: u64, dim: usize, start: usize, lengths: &[usize], half: bool) -> Self {
        let n = lengths.iter().sum::<usize>() * dim;
        let (keys, values, lengths) = (drawn(seed, n), drawn(seed + 1, n), lengths.to_vec());
        Self { keys, values, halves: None, dim, start, lengths }.rounded(half)
    }

    /// Rounds all numbers to f16 if `half` is set.
    fn rounded(mut self, half: bool) -> Self {
        self.halves = half.then(|| {
            [&mut self.keys, &mut self.values].map(|x| {
                let halves: Vec<f16> = x.iter().map(|&x| f16::from_f32(x)).collect();
                x.iter_mut().zip(&halves).for_each(|(x, half)| *x = half.to_f32());
                halves
            })
        });
        self
    }

    fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut at = 0;
        self.lengths.iter().map(move |&len| {
            let range = at * self.dim..(at + len) * self.dim;
            let start = self.start + at;
            at += len;
            let [keys, values] = match &self.halves {
                Some([k, v]) => [Cells::F16(&k[range.clone()]), Cells::F16(&v[range])],
                None => [Cells::F32(&self.keys[range.clone()]), Cells::F32(&self.values[range])],
            };
            Run { start, len, keys, values }
        })
    }
}

/// The contents of the output before the call, which must not matter. They are NaN, because the
/// first factor is 0, and 0 times any other number would hide it.
const BEFORE: f32 = f32::NAN;

/// Fills an output of `n` numbers with [`BEFORE`], calls `attend` on it, and returns it.
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
        "output filled with NaN before the call: {} of {n} numbers are NaN, the first at index {}, \
         but not if the output was filled with 0\n  diagnosis the output holds NaN before the \
         call: what is added to it, or not written, stays NaN.",
        (0..n).filter(stays).count(),
        first.unwrap_or_default()
    );
    out
}

/// Attention of `n` queries `[n, D]` over one position. Each result is that position's value `[D]`.
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
                "attention over a single position must return its value, because it has weight 1, \
                 but the output of {who} {i} differs"
            );
        }
    }
}
