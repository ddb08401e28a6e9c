//! The tasks of week 1's first days that later tasks use, each with a short check. Also the layers
//! that the tests of several days build.
//!
//! The test of a larger function lists these tasks as its parts (`resting_on`), so that it can
//! report which of them fails.

#![allow(dead_code, reason = "every day's tests have this module, and use a part of it")]

use std::sync::Arc;

use ndarray::IxDyn;
use tiny_llm::week1::{
    attention::{linear, merge_heads, scaled_dot_product_attention, softmax, split_heads},
    gqa::{GroupedQueryAttention, HeadNorm, Linear, causal_mask, grouped_query_attention},
    mlp::{SwiGlu, silu},
    norm::RmsNorm,
    rope::{RopeTables, inverse_frequencies, rope_half_split},
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::Part,
    fixtures::{Case, Fixtures},
};

pub(crate) const SOFTMAX: &Part =
    &Part { task: "week1-day1 task 1", what: "softmax and linear", check: softmax_and_linear };
pub(crate) const ATTENTION: &Part =
    &Part { task: "week1-day1 task 2", what: "scaled dot-product attention", check: attention };
pub(crate) const HEADS: &Part =
    &Part { task: "week1-day1 task 3", what: "split_heads and merge_heads", check: heads };
pub(crate) const TABLES: &Part =
    &Part { task: "week1-day2 task 1", what: "frequencies and tables", check: rope_tables };
pub(crate) const ROPE: &Part =
    &Part { task: "week1-day2 task 3", what: "half-split RoPE", check: rope };
pub(crate) const GROUPED: &Part =
    &Part { task: "week1-day3 task 1", what: "grouped attention", check: grouped };
pub(crate) const MASK: &Part =
    &Part { task: "week1-day3 task 2", what: "the causal mask", check: mask };
pub(crate) const LAYER: &Part =
    &Part { task: "week1-day3 task 3", what: "the attention layer", check: layers };
pub(crate) const NORM: &Part = &Part { task: "week1-day4 task 1", what: "RMSNorm", check: norm };
pub(crate) const SILU: &Part = &Part { task: "week1-day4 task 2", what: "SiLU", check: check_silu };
pub(crate) const MLP: &Part = &Part { task: "week1-day4 task 3", what: "the MLP", check: mlp };

/// Tasks that the attention layer of day 3 uses.
pub(crate) const OF_A_LAYER: [&Part; 5] = [SOFTMAX, ATTENTION, HEADS, ROPE, GROUPED];
/// Tasks that a transformer block of day 5 uses.
pub(crate) const OF_A_BLOCK: [&Part; 9] =
    [SOFTMAX, ATTENTION, HEADS, ROPE, GROUPED, LAYER, NORM, SILU, MLP];

/// Checks every case of a day whose name begins with `prefix`.
fn each(day: &str, prefix: &str, check: impl Fn(&Case)) {
    let fixtures = Fixtures::open(day);
    for name in fixtures.cases(prefix) {
        check(&fixtures.case(&name));
    }
}

fn softmax_and_linear() {
    each("week1_day1", "task_1_softmax/", |case| case.check("output", &softmax(&case.tensor("x"))));
    each("week1_day1", "task_1_linear/", |case| {
        let bias = case.get("bias");
        case.check("output", &linear(&case.tensor("x"), &case.tensor("weight"), bias.as_ref()));
    });
}

fn attention() {
    each("week1_day1", "task_2_attention/", |case| {
        let [q, k, v] = ["q", "k", "v"].map(|name| case.tensor(name));
        let (scale, mask) = (scale_of(case), case.get("mask"));
        case.check("output", &scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref()));
    });
}

fn heads() {
    each("week1_day1", "task_3_heads/", |case| {
        let (x, heads) = (case.tensor("x"), case.tensor("output"));
        case.check("output", &split_heads(&x, case.count("n_heads")));
        assert_eq!(merge_heads(&heads), x, "merge_heads");
    });
}

fn rope_tables() {
    each("week1_day2", "task_1_inverse_frequencies/", |case| {
        let found = inverse_frequencies(case.count("head_dim"), case.scalar("base") as f32);
        case.check("output", &tensor(&[found.len()], found));
    });
    each("week1_day2", "task_1_tables/", |case| {
        let frequencies = case.tensor("inverse_frequencies").into_raw_vec_and_offset().0;
        let found = RopeTables::new(&frequencies, case.count("n_positions"));
        case.check("cos", &found.cos);
        case.check("sin", &found.sin);
    });
}

fn rope() {
    each("week1_day2", "task_3_half_split/", |case| {
        let tables = RopeTables { cos: case.tensor("cos"), sin: case.tensor("sin") };
        case.check("output", &rope_half_split(&case.tensor("x"), &tables, case.count("offset")));
    });
}

fn grouped() {
    each("week1_day3", "task_1_grouped/", |case| {
        let [q, k, v] = ["q", "k", "v"].map(|name| case.tensor(name));
        let (scale, mask) = (scale_of(case), case.get("mask"));
        case.check("output", &grouped_query_attention(&q, &k, &v, scale, mask.as_ref()));
    });
}

fn scale_of(case: &Case) -> Option<f32> {
    case.value("scale").as_f64().map(|scale| scale as f32)
}

fn mask() {
    for (length, keys) in [(3, 5), (4, 4), (5, 8)] {
        let fixtures = Fixtures::open("week1_day3");
        fixtures
            .case(&format!("task_2_causal_mask/{length}x{keys}"))
            .check("output", &causal_mask(length, keys));
    }
}

fn layers() {
    each("week1_day3", "task_3_layer/", |case| {
        case.check("output", &layer(case).forward(&case.tensor("x"), case.get("mask").as_ref()));
    });
}

fn norm() {
    each("week1_day4", "task_1_rms_norm/", |case| {
        // The case with several values of eps has one output for each.
        if let Some(eps) = case.value("eps").as_f64() {
            let norm = RmsNorm { weight: case.tensor("weight"), eps: eps as f32 };
            case.check("output", &norm.forward(&case.tensor("x")));
        }
    });
}

fn check_silu() {
    each("week1_day4", "task_2_silu/", |case| case.check("output", &silu(&case.tensor("x"))));
}

fn mlp() {
    each("week1_day4", "task_3_swiglu/", |case| {
        let [gate_proj, up_proj, down_proj] =
            ["gate_proj", "up_proj", "down_proj"].map(|name| case.tensor(name));
        let mlp = SwiGlu { gate_proj, up_proj, down_proj };
        case.check("output", &mlp.forward(&case.tensor("x")));
    });
}

/// Returns a substitute for day 4's norm in a head: it divides each head by its largest magnitude,
/// then multiplies it by `weight`.
fn head_norm(weight: Tensor) -> HeadNorm {
    Box::new(move |x| {
        let mut out = x.clone();
        for mut head in out.rows_mut() {
            let largest = head.fold(0.0f32, |m, v| m.max(v.abs()));
            head /= largest;
        }
        out * &weight
    })
}

/// Returns the tables of a case with two extra rows of zeros. No position of `x` uses them, so
/// reading them gives a wrong result.
fn tables(case: &Case) -> RopeTables {
    let longer = |table: Tensor| {
        let (rows, width) = (table.shape()[0], table.shape()[1]);
        Tensor::from_shape_fn(IxDyn(&[rows + 2, width]), |at| {
            if at[0] < rows { table[&at] } else { 0.0 }
        })
    };
    RopeTables { cos: longer(case.tensor("cos")), sin: longer(case.tensor("sin")) }
}

/// Returns the attention layer of one of day 3's cases.
pub(crate) fn layer(case: &Case) -> GroupedQueryAttention {
    let linear = |name: &str| Linear {
        weight: case.tensor(&format!("{name}_proj")),
        bias: case.get(&format!("{name}_bias")),
    };
    GroupedQueryAttention {
        n_heads: case.count("n_heads"),
        n_kv_heads: case.count("n_kv_heads"),
        q_proj: linear("q"),
        k_proj: linear("k"),
        v_proj: linear("v"),
        o_proj: linear("o"),
        q_norm: case.get("q_norm").map(head_norm),
        k_norm: case.get("k_norm").map(head_norm),
        rope: Arc::new(tables(case)),
    }
}
