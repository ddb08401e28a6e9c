//! Tensor names in Hugging Face checkpoints, and the names of the same tensors in GGUF files.

/// Names of tensors outside the layers: Hugging Face's and GGUF's.
const WHOLE: [(&str, &str); 3] = [
    ("model.embed_tokens.weight", "token_embd.weight"),
    ("model.norm.weight", "output_norm.weight"),
    ("lm_head.weight", "output.weight"),
];

/// Names of the parts of a layer, Hugging Face's and GGUF's, without `.weight` or `.bias`.
const PARTS: [(&str, &str); 11] = [
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("input_layernorm", "attn_norm"),
    ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
];

/// Returns the GGUF name of a tensor of Llama, Qwen2 or Qwen3:
/// `model.layers.3.self_attn.q_proj.weight` → `blk.3.attn_q.weight`. Returns `None` if these models
/// have no such tensor.
#[must_use]
pub fn gguf_name(hugging_face: &str) -> Option<String> {
    if let Some((_, gguf)) = WHOLE.iter().find(|(name, _)| *name == hugging_face) {
        return Some((*gguf).to_owned());
    }
    let (layer, part, kind) = in_layer(hugging_face, "model.layers.")?;
    let (_, gguf) = PARTS.iter().find(|(name, _)| *name == part)?;
    Some(format!("blk.{layer}.{gguf}.{kind}"))
}

/// Returns the Hugging Face name of a tensor of Llama, Qwen2 or Qwen3: `blk.3.attn_q.weight` →
/// `model.layers.3.self_attn.q_proj.weight`. Returns `None` if these models have no such tensor.
#[must_use]
pub fn hugging_face_name(gguf: &str) -> Option<String> {
    if let Some((hugging_face, _)) = WHOLE.iter().find(|(_, name)| *name == gguf) {
        return Some((*hugging_face).to_owned());
    }
    let (layer, part, kind) = in_layer(gguf, "blk.")?;
    let (hugging_face, _) = PARTS.iter().find(|(_, name)| *name == part)?;
    Some(format!("model.layers.{layer}.{hugging_face}.{kind}"))
}

/// Splits a name such as `blk.3.attn_q.weight` into layer number, part, and `weight` or `bias`.
fn in_layer<'a>(name: &'a str, prefix: &str) -> Option<(usize, &'a str, &'a str)> {
    let (layer, rest) = name.strip_prefix(prefix)?.split_once('.')?;
    let (part, kind) =
        rest.rsplit_once('.').filter(|(_, kind)| matches!(*kind, "weight" | "bias"))?;
    Some((layer.parse().ok()?, part, kind))
}
