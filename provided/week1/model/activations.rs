//! Day 5. Reports every intermediate result of a model, by name and in order.
//!
//! This file is provided, not a task. **It spells out the attention layer: don't read on until your
//! day 3 tests pass.** `cargo course trace` compares your model's activations with the reference's,
//! and the tests compare them with PyTorch's. The first activation that differs shows which
//! function to check.

use ndarray::{Array2, Axis, Slice};
use tiny_llm_formats::{Tensor, matmul, tensor::transpose};

use crate::week1::{
    attention::{linear, merge_heads, scaled_dot_product_attention, softmax, split_heads},
    gqa::{GroupedQueryAttention, causal_mask, grouped_query_attention},
    mlp::{SwiGlu, silu},
    model::Model,
    rope::rope_half_split,
};

/// Runs `model` on `tokens [B, L]`. Calls `each(name, activation)` for every activation as soon as
/// it is computed. If a step panics, `each` has already received all earlier activations.
///
/// | name | shape | |
/// |---|---|---|
/// | `rope.cos`, `rope.sin` | `[L, D/2]` | the tables' first rows |
/// | `causal_mask` | `[L, L]` | |
/// | `layers.0.attention.q_proj.weight` | `[H_q·D, E]` | shows whether weights are read correctly |
/// | `embedding` | `[B, L, E]` | |
/// | `layers.0.input_norm` | `[B, L, E]` | |
/// | `layers.0.attention.q_proj`, `k_proj`, `v_proj` | `[B, L, H_q·D]`, `[B, L, H·D]` | |
/// | `layers.0.attention.q_heads`, `k_heads`, `v_heads` | `[B, H_q, L, D]`, `[B, H, L, D]` | |
/// | `layers.0.attention.q_norm`, `k_norm` | `[B, H_q, L, D]`, `[B, H, L, D]` | only if the model has these norms |
/// | `layers.0.attention.q_rope`, `k_rope` | `[B, H_q, L, D]`, `[B, H, L, D]` | |
/// | `layers.0.attention.head_0.weights` | `[B, 1, L, L]` | what query head 0 pays attention to |
/// | `layers.0.attention.head_0` | `[B, 1, L, D]` | the result of query head 0 |
/// | `layers.0.attention.heads` | `[B, H_q, L, D]` | all heads, before they are merged and projected |
/// | `layers.0.attention.merged` | `[B, L, H_q·D]` | |
/// | `layers.0.attention` | `[B, L, E]` | |
/// | `layers.0.post_attention_norm` | `[B, L, E]` | |
/// | `layers.0.mlp.gate`, `mlp.silu`, `mlp.up` | `[B, L, I]` | |
/// | `layers.0.mlp` | `[B, L, E]` | |
/// | `layers.0` | `[B, L, E]` | the result of the block. The other layers follow |
/// | `norm` | `[B, L, E]` | |
/// | `tied_output` or `lm_head` | `[B, L, V]` | the output head applied to `norm` |
/// | `logits` | `[B, L, V]` | the result of [`Model::forward`] |
///
/// # Panics
/// In the same cases as [`Model::forward`].
pub fn activations(model: &Model, tokens: &Array2<u32>, each: &mut dyn FnMut(&str, &Tensor)) {
    let length = tokens.ncols();
    if let Some(block) = model.blocks.first() {
        each("rope.cos", &first_rows(&block.attention.rope.cos, length));
        each("rope.sin", &first_rows(&block.attention.rope.sin, length));
    }
    let mask = causal_mask(length, length);
    each("causal_mask", &mask);
    if let Some(block) = model.blocks.first() {
        each("layers.0.attention.q_proj.weight", &block.attention.q_proj.weight);
    }
    let mut x = model.embedding.forward(tokens);
    each("embedding", &x);
    for (i, block) in model.blocks.iter().enumerate() {
        let layer = format!("layers.{i}");
        let mut inside = |part: &str, value: &Tensor| each(&format!("{layer}.{part}"), value);
        let normed = block.input_norm.forward(&x);
        inside("input_norm", &normed);
        inside_attention(&block.attention, &normed, &mask, &mut inside);
        let attended = block.attention.forward(&normed, Some(&mask));
        inside("attention", &attended);
        let normed = block.post_attention_norm.forward(&(&x + &attended));
        inside("post_attention_norm", &normed);
        inside_mlp(&block.mlp, &normed, &mut inside);
        inside("mlp", &block.mlp.forward(&normed));
        x = block.forward(&x, Some(&mask));
        each(&layer, &x);
    }
    let x = model.norm.forward(&x);
    each("norm", &x);
    match &model.lm_head {
        Some(head) => each("lm_head", &head.forward(&x)),
        None => each("tied_output", &model.embedding.as_output(&x)),
    }
    each("logits", &model.forward(tokens));
}

fn first_rows(table: &Tensor, rows: usize) -> Tensor {
    if table.ndim() == 0 || table.shape()[0] < rows {
        return table.clone();
    }
    table.slice_axis(Axis(0), Slice::from(..rows)).to_owned()
}

/// Runs [`GroupedQueryAttention::forward`] step by step, up to the merged heads. Passes each result
/// to `each`.
fn inside_attention(
    attention: &GroupedQueryAttention,
    x: &Tensor,
    mask: &Tensor,
    each: &mut dyn FnMut(&str, &Tensor),
) {
    let q = attention.q_proj.forward(x);
    each("attention.q_proj", &q);
    let k = attention.k_proj.forward(x);
    each("attention.k_proj", &k);
    let v = attention.v_proj.forward(x);
    each("attention.v_proj", &v);

    let mut q = split_heads(&q, attention.n_heads);
    each("attention.q_heads", &q);
    let mut k = split_heads(&k, attention.n_kv_heads);
    each("attention.k_heads", &k);
    let v = split_heads(&v, attention.n_kv_heads);
    each("attention.v_heads", &v);

    if let Some(norm) = &attention.q_norm {
        q = norm(&q);
        each("attention.q_norm", &q);
    }
    if let Some(norm) = &attention.k_norm {
        k = norm(&k);
        each("attention.k_norm", &k);
    }
    let q = rope_half_split(&q, &attention.rope, 0);
    each("attention.q_rope", &q);
    let k = rope_half_split(&k, &attention.rope, 0);
    each("attention.k_rope", &k);

    // Checking query head 0 alone shows whether a mistake is in attention or in the grouping.
    let head_0 = |x: &Tensor| x.slice_axis(Axis(1), Slice::from(..1)).to_owned();
    let (q_0, k_0, v_0) = (head_0(&q), head_0(&k), head_0(&v));
    let scale = 1.0 / (q_0.shape()[3] as f32).sqrt();
    each("attention.head_0.weights", &softmax(&(matmul(&q_0, transpose(&k_0)) * scale + mask)));
    each("attention.head_0", &scaled_dot_product_attention(&q_0, &k_0, &v_0, None, Some(mask)));

    let heads = grouped_query_attention(&q, &k, &v, None, Some(mask));
    each("attention.heads", &heads);
    each("attention.merged", &merge_heads(&heads));
}

/// Computes the gate, SiLU and up steps of [`SwiGlu::forward`]. Passes each result to `each`.
fn inside_mlp(mlp: &SwiGlu, x: &Tensor, each: &mut dyn FnMut(&str, &Tensor)) {
    let gate = linear(x, &mlp.gate_proj, None);
    each("mlp.gate", &gate);
    each("mlp.silu", &silu(&gate));
    each("mlp.up", &linear(x, &mlp.up_proj, None));
}

/// Takes the `name` of the first activation that differs from the reference. Returns the functions
/// that may be wrong, the likeliest first. Each entry names a task and a function. The list is
/// empty if no activation has this name.
pub fn tasks_of(name: &str) -> &'static [&'static str] {
    // `layers.12.mlp` -> `mlp`, `layers.12` -> ``
    let part = match name.strip_prefix("layers.") {
        Some(inside) => inside.split_once('.').map_or("", |(_, part)| part),
        None => name,
    };
    match part {
        "rope.cos" | "rope.sin" => {
            &["week1-day2 task 1: RopeTables::new", "week1-day2 task 1: inverse_frequencies"]
        }
        "causal_mask" => &["week1-day3 task 2: causal_mask"],
        "attention.q_proj.weight" => {
            &["week1-day5 task 4: to_f32", "week1-day5 task 4: load_model"]
        }
        "embedding" => &["week1-day5 task 1: Embedding::forward"],
        "input_norm" | "post_attention_norm" | "norm" | "attention.q_norm" | "attention.k_norm" => {
            &["week1-day4 task 1: RmsNorm::forward"]
        }
        "attention.q_proj" | "attention.k_proj" | "attention.v_proj" | "mlp.gate" | "mlp.up"
        | "lm_head" => &["week1-day1 task 1: linear"],
        "attention.q_heads" | "attention.k_heads" | "attention.v_heads" => {
            &["week1-day1 task 3: split_heads"]
        }
        "attention.q_rope" | "attention.k_rope" => &["week1-day2 task 3: rope_half_split"],
        "attention.head_0.weights" => &["week1-day1 task 1: softmax"],
        "attention.head_0" => &["week1-day1 task 2: scaled_dot_product_attention"],
        // At this point, head 0 is known to be right. So the mistake is in the grouping, or in
        // attention with more than two leading axes.
        "attention.heads" => &[
            "week1-day3 task 1: grouped_query_attention",
            "week1-day1 task 2: scaled_dot_product_attention",
        ],
        "attention.merged" => &["week1-day1 task 3: merge_heads"],
        "attention" => &["week1-day3 task 3: GroupedQueryAttention::forward"],
        "mlp.silu" => &["week1-day4 task 2: silu"],
        "mlp" => &["week1-day4 task 3: SwiGlu::forward"],
        "" => &["week1-day5 task 2: TransformerBlock::forward"],
        "tied_output" => &["week1-day5 task 1: Embedding::as_output"],
        "logits" => &["week1-day5 task 3: Model::forward"],
        _ => &[],
    }
}
