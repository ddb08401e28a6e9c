//! Day 5. Looking inside: every intermediate result of a model, by name and in order.
//!
//! Provided, not a task. **It spells out the attention layer: do not read on before day 3 is green.** Compare the list with the same list from PyTorch: the first entry that differs names the function to look at.

use ndarray::Array2;
use tiny_llm_kit::Tensor;

use super::{
    attention::split_heads,
    gqa::{GroupedQueryAttention, causal_mask, grouped_query_attention},
    model::Model,
    rope::rope_half_split,
};

/// All activations of `model` on `tokens [B, L]`, each with its name, in the order in which they are computed:
///
/// | name | shape | |
/// |---|---|---|
/// | `embedding` | `[B, L, E]` | |
/// | `layers.0.input_norm` | `[B, L, E]` | |
/// | `layers.0.attention.q_proj`, `k_proj`, `v_proj` | `[B, L, H_q·D]`, `[B, L, H·D]` | |
/// | `layers.0.attention.q_norm`, `k_norm` | `[B, H_q, L, D]`, `[B, H, L, D]` | where the model has them |
/// | `layers.0.attention.q_rope`, `k_rope` | `[B, H_q, L, D]`, `[B, H, L, D]` | |
/// | `layers.0.attention.heads` | `[B, H_q, L, D]` | before they are merged and projected |
/// | `layers.0.attention` | `[B, L, E]` | |
/// | `layers.0.post_attention_norm` | `[B, L, E]` | |
/// | `layers.0.mlp` | `[B, L, E]` | |
/// | `layers.0` | `[B, L, E]` | and so on for all layers |
/// | `norm` | `[B, L, E]` | |
/// | `logits` | `[B, L, V]` | |
///
/// # Panics
/// As [`Model::forward`].
pub fn activations(model: &Model, tokens: &Array2<u32>) -> Vec<(String, Tensor)> {
    let mask = causal_mask(tokens.ncols(), tokens.ncols());
    let mut x = model.embedding.forward(tokens);
    let mut list = vec![("embedding".to_owned(), x.clone())];
    for (i, block) in model.blocks.iter().enumerate() {
        let layer = format!("layers.{i}");
        let normed = block.input_norm.forward(&x);
        let attended = block.attention.forward(&normed, Some(&mask));
        let residual = &x + &attended;
        let post_normed = block.post_attention_norm.forward(&residual);
        let mlp = block.mlp.forward(&post_normed);
        x = block.forward(&x, Some(&mask));

        let inside = inside_attention(&block.attention, &normed, &mask);
        list.push((format!("{layer}.input_norm"), normed));
        list.extend(inside.into_iter().map(|(name, value)| (format!("{layer}.attention.{name}"), value)));
        list.push((format!("{layer}.attention"), attended));
        list.push((format!("{layer}.post_attention_norm"), post_normed));
        list.push((format!("{layer}.mlp"), mlp));
        list.push((layer, x.clone()));
    }
    list.push(("norm".to_owned(), model.norm.forward(&x)));
    list.push(("logits".to_owned(), model.forward(tokens)));
    list
}

/// The steps of [`GroupedQueryAttention::forward`], one by one.
fn inside_attention(attention: &GroupedQueryAttention, x: &Tensor, mask: &Tensor) -> Vec<(&'static str, Tensor)> {
    let (q, k, v) = (attention.q_proj.forward(x), attention.k_proj.forward(x), attention.v_proj.forward(x));
    let mut list = vec![("q_proj", q.clone()), ("k_proj", k.clone()), ("v_proj", v.clone())];
    let mut q = split_heads(&q, attention.n_heads);
    let mut k = split_heads(&k, attention.n_kv_heads);
    let v = split_heads(&v, attention.n_kv_heads);
    if let Some(norm) = &attention.q_norm {
        q = norm(&q);
        list.push(("q_norm", q.clone()));
    }
    if let Some(norm) = &attention.k_norm {
        k = norm(&k);
        list.push(("k_norm", k.clone()));
    }
    let q = rope_half_split(&q, &attention.rope, 0);
    let k = rope_half_split(&k, &attention.rope, 0);
    let heads = grouped_query_attention(&q, &k, &v, None, Some(mask));
    list.extend([("q_rope", q), ("k_rope", k), ("heads", heads)]);
    list
}

/// The task whose function computes this activation.
pub fn task_of(name: &str) -> &'static str {
    // `layers.12.mlp` -> `mlp`, `layers.12` -> ``
    let part = match name.strip_prefix("layers.") {
        Some(inside) => inside.split_once('.').map_or("", |(_, part)| part),
        None => name,
    };
    match part {
        "embedding" => "week1-day5 task 1: Embedding::forward",
        "input_norm" | "post_attention_norm" | "norm" => "week1-day4 task 1: RmsNorm::forward",
        "attention.q_proj" | "attention.k_proj" | "attention.v_proj" => "week1-day1 task 1: linear",
        "attention.q_norm" | "attention.k_norm" => "week1-day4 task 1: RmsNorm::forward, on heads from week1-day1 task 3: split_heads",
        "attention.q_rope" | "attention.k_rope" => "week1-day2 tasks 1 and 3: inverse_frequencies, RopeTables::new, rope_half_split",
        "attention.heads" => "week1-day3 tasks 1 and 2: grouped_query_attention, causal_mask",
        "attention" => "week1-day3 task 3: GroupedQueryAttention::forward",
        "mlp" => "week1-day4 task 3: SwiGlu::forward",
        "" => "week1-day5 task 2: TransformerBlock::forward",
        "logits" => "week1-day5 task 3: Model::forward",
        _ => "no task: there is no activation of this name",
    }
}
