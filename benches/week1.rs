//! Measures the numbers in the book's checkpoints, one section per day:
//! `cargo bench --features week1-day1`.
//!
//! Times are the best of several runs, because other load on the machine can only add to them.
#![allow(missing_docs, reason = "a benchmark has no readers of its documentation")]

fn main() {
    #[cfg(feature = "week1-day1")]
    day1::run();
    #[cfg(feature = "week1-day2")]
    day2::run();
    #[cfg(feature = "week1-day3")]
    day3::run();
}

/// Returns a tensor of signed numbers, the same in every run.
#[cfg(any(feature = "week1-day1", feature = "week1-day2", feature = "week1-day3"))]
fn numbers(shape: &[usize], seed: u64) -> tiny_llm_formats::Tensor {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    tiny_llm_formats::tensor::tensor(shape, (0..shape.iter().product()).map(|_| next()).collect())
}

/// Calls `run` several times. Returns the shortest time, in milliseconds.
#[cfg(any(feature = "week1-day1", feature = "week1-day3"))]
fn milliseconds<T>(mut run: impl FnMut() -> T) -> f64 {
    let times = (0..7).map(|_| {
        let start = std::time::Instant::now();
        std::hint::black_box(run());
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}

#[cfg(feature = "week1-day1")]
mod day1 {
    use tiny_llm::week1::attention::scaled_dot_product_attention;

    use crate::{milliseconds, numbers};

    pub(crate) fn run() {
        println!("day 1: attention in 4 heads of size 64, L = S");
        let mut before = None;
        for length in [64, 128, 256, 512, 1024] {
            let shape = [1, 4, length, 64];
            let (q, k, v) = (numbers(&shape, 1), numbers(&shape, 2), numbers(&shape, 3));
            let time = milliseconds(|| scaled_dot_product_attention(&q, &k, &v, None, None));
            let ratio = before.map_or(String::new(), |before: f64| {
                format!("  {:4.1} times the line above", time / before)
            });
            println!(
                "  L = {length:4}  scores {:6.2} MiB  {time:8.2} ms{ratio}",
                (4 * length * length * 4) as f64 / f64::from(1 << 20)
            );
            before = Some(time);
        }
    }
}

#[cfg(feature = "week1-day2")]
mod day2 {
    use tiny_llm::week1::rope::{RopeTables, inverse_frequencies, rope_half_split};

    use crate::numbers;

    pub(crate) fn run() {
        println!("day 2: the score of one query and one key of size 64 that are 5 positions apart");
        let tables = RopeTables::new(&inverse_frequencies(64, 10_000.0), 65_536);
        let (q, k) = (numbers(&[1, 64], 1), numbers(&[1, 64], 2));
        let score = |position: usize| {
            let (q, k) = (
                rope_half_split(&q, &tables, position + 5),
                rope_half_split(&k, &tables, position),
            );
            (&q * &k).sum()
        };
        let first = score(0);
        for position in [0, 10, 100, 1000, 10_000, 60_000] {
            println!(
                "  key at {position:5}  {:9.6}  off by {:.1e}",
                score(position),
                (score(position) - first).abs()
            );
        }
    }
}

#[cfg(feature = "week1-day3")]
mod day3 {
    use std::sync::Arc;

    use tiny_llm::week1::{
        gqa::{GroupedQueryAttention, Linear, causal_mask, grouped_query_attention},
        rope::{RopeTables, inverse_frequencies},
    };

    use crate::{milliseconds, numbers};

    pub(crate) fn run() {
        println!(
            "day 3: one attention layer, E = 256, 4 query heads on 2 key/value heads of size 64"
        );
        let linear = |out, width, seed| Linear { weight: numbers(&[out, width], seed), bias: None };
        let layer = GroupedQueryAttention {
            n_heads: 4,
            n_kv_heads: 2,
            q_proj: linear(256, 256, 1),
            k_proj: linear(128, 256, 2),
            v_proj: linear(128, 256, 3),
            o_proj: linear(256, 256, 4),
            q_norm: None,
            k_norm: None,
            rope: Arc::new(RopeTables::new(&inverse_frequencies(64, 10_000.0), 1024)),
        };
        for length in [64, 256, 1024] {
            let x = numbers(&[1, length, 256], 5);
            let mask = causal_mask(length, length);
            let whole = milliseconds(|| layer.forward(&x, Some(&mask)));
            let (q, k) = (numbers(&[1, 4, length, 64], 6), numbers(&[1, 2, length, 64], 7));
            let attention = milliseconds(|| grouped_query_attention(&q, &k, &k, None, Some(&mask)));
            println!(
                "  L = {length:4}  {whole:8.2} ms, of which attention {attention:8.2} ms ({:3.0} \
                 %)",
                100.0 * attention / whole
            );
        }
    }
}
