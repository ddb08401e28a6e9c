//! Day 4. A converter's recipe: the order in which the rows of a matrix are written to the file,
//! and the type of each tensor.
//!
//! Tasks here: week2-day4 task 5 (`permute_rows_for_interleaved`, `permute_rows_for_half_split`,
//! `row_order`, `use_more_bits`, `q4_k_m`, `fitting`). Everything else is provided.

use std::str::FromStr;

use tiny_llm_formats::{
    config::{Family, ModelConfig},
    gguf::TensorType,
};

/// What to make of a model: one type for all matrices, or one of llama.cpp's mixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "these are the field's names")]
pub enum Target {
    /// One type for all.
    All(TensorType),
    /// `Q2_K` and, where it matters more, `Q3_K`.
    Q2_K,
    /// `Q3_K` and, where it matters more, `Q4_K` and `Q5_K`.
    Q3_K_M,
    /// `Q4_K` and, where it matters more, `Q6_K`.
    Q4_K_M,
    /// `Q5_K` and, where it matters more, `Q6_K`.
    Q5_K_M,
}

impl Target {
    /// Every target, by the names of llama.cpp's own command, with the number that stands for it in
    /// `general.file_type`.
    pub const ALL: [(Self, &'static str, u32); 13] = [
        (Self::All(TensorType::F32), "f32", 0),
        (Self::All(TensorType::F16), "f16", 1),
        (Self::All(TensorType::BF16), "bf16", 32),
        (Self::All(TensorType::Q8_0), "q8_0", 7),
        (Self::All(TensorType::Q6_K), "q6_k", 18),
        (Self::Q5_K_M, "q5_k_m", 17),
        (Self::All(TensorType::Q5_1), "q5_1", 9),
        (Self::All(TensorType::Q5_0), "q5_0", 8),
        (Self::Q4_K_M, "q4_k_m", 15),
        (Self::All(TensorType::Q4_1), "q4_1", 3),
        (Self::All(TensorType::Q4_0), "q4_0", 2),
        (Self::Q3_K_M, "q3_k_m", 12),
        (Self::Q2_K, "q2_k", 10),
    ];

    /// The number that stands for it in `general.file_type`; 1, as for `F16`, where llama.cpp has
    /// no name for it.
    #[must_use]
    pub fn file_type(self) -> u32 {
        Self::ALL
            .iter()
            .find(|(target, ..)| *target == self)
            .map_or(1, |(.., file_type)| *file_type)
    }
}

impl FromStr for Target {
    type Err = String;

    /// Upper or lower case.
    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(target, ..)| *target).ok_or_else(|| {
            format!(
                "found type {name:?}, expected one of {}",
                Self::ALL.map(|(_, name, _)| name).join(", ")
            )
        })
    }
}

/// What the type of a tensor depends on besides its name and shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    /// Number of transformer blocks.
    pub n_layers: usize,
    /// Query heads to each key and value head, `H_q / H`.
    pub group: usize,
    /// Is the embedding the output head too?
    pub tied: bool,
}

/// For each row of a projection of `n_heads` heads in a GGUF file of the Llama family, the row of
/// the Hugging Face checkpoint that belongs there. Within each head, row `i` of the first half and
/// row `i` of the second are a pair that RoPE turns together; the file has the two side by side.
///
/// # Panics
/// If `rows` are not `n_heads` heads of an even size.
#[must_use]
pub fn permute_rows_for_interleaved(rows: usize, n_heads: usize) -> Vec<usize> {
    assert!(
        n_heads > 0 && rows.is_multiple_of(2 * n_heads),
        "{rows} rows are not {n_heads} heads of an even size"
    );
    todo!("week2-day4 task 5: permute_rows_for_interleaved")
}

/// The way back: for each row of the Hugging Face checkpoint, the row of the GGUF file that belongs
/// there.
///
/// # Panics
/// As [`permute_rows_for_interleaved`].
#[must_use]
pub fn permute_rows_for_half_split(rows: usize, n_heads: usize) -> Vec<usize> {
    assert!(
        n_heads > 0 && rows.is_multiple_of(2 * n_heads),
        "{rows} rows are not {n_heads} heads of an even size"
    );
    todo!("week2-day4 task 5: permute_rows_for_half_split")
}

/// Returns the order in which the rows of a tensor go from a checkpoint of this configuration into
/// a file, or `None` if the order stays the same. `name` is the name in the file, such as
/// `blk.0.attn_q.weight`. A bias is permuted like the rows that it is added to.
///
/// # Panics
/// As [`permute_rows_for_interleaved`].
#[must_use]
pub fn row_order(config: &ModelConfig, name: &str) -> Option<Vec<usize>> {
    todo!("week2-day4 task 5: row_order")
}

/// Returns whether a mix spends more bits on this layer: that is, on the first eighth of the
/// layers, on the last eighth, and on every third layer between them, beginning with the third of
/// those. Eighths are rounded down: the first `n / 8` layers, and the layers from `7 · n / 8` on.
#[must_use]
pub fn use_more_bits(layer: usize, n_layers: usize) -> bool {
    todo!("week2-day4 task 5: use_more_bits")
}

/// The type of a matrix in the mix `Q4_K_M`, before it is known whether its rows are whole blocks.
/// The output head (the embedding, if that is tied) is `Q6_K`, and so are `attn_v` and `ffn_down`
/// of the layers for which [`use_more_bits`] is true. Everything else is `Q4_K`.
#[must_use]
pub fn q4_k_m(name: &str, dimensions: &Dimensions) -> TensorType {
    todo!("week2-day4 task 5: q4_k_m")
}

/// Returns the type in which rows of `cols` weights can be stored. If the rows are whole blocks of
/// `tensor_type`, that's the type. Otherwise it is the next larger type with blocks of 32: `Q4_0`
/// for `Q2_K` and `Q3_K`, `Q5_0` for `Q4_K`, `Q5_1` for `Q5_K`, and `Q8_0` for `Q6_K`. If they are
/// not whole blocks of 32 either, it is `F16`.
#[must_use]
pub fn fitting(tensor_type: TensorType, cols: usize) -> TensorType {
    todo!("week2-day4 task 5: fitting")
}

/// The type of a tensor in a file, as llama.cpp chooses it without an importance matrix. Vectors
/// stay `F32`. Left out are its exceptions for models of 70B and for mixtures of experts.
#[must_use]
pub fn tensor_type_for(
    target: Target,
    name: &str,
    shape: &[usize],
    dimensions: &Dimensions,
) -> TensorType {
    let [_, cols] = *shape else { return TensorType::F32 };
    let tensor_type = match target {
        Target::All(plain) if plain.block_len() == 1 => return plain,
        Target::All(TensorType::Q8_0) => TensorType::Q8_0,
        Target::All(_) if is_output(name, dimensions) => TensorType::Q6_K,
        Target::All(tensor_type) => tensor_type,
        Target::Q4_K_M => q4_k_m(name, dimensions),
        Target::Q2_K | Target::Q3_K_M | Target::Q5_K_M => other_mix(target, name, dimensions),
    };
    fitting(tensor_type, cols)
}

/// The other mixes, as [`q4_k_m`].
fn other_mix(target: Target, name: &str, dimensions: &Dimensions) -> TensorType {
    use TensorType::{Q2_K, Q3_K, Q4_K, Q5_K, Q6_K};
    let Some((layer, part)) = layer_and_part(name).filter(|_| !is_output(name, dimensions)) else {
        return match target {
            _ if is_output(name, dimensions) => Q6_K,
            Target::Q2_K => Q2_K,
            Target::Q3_K_M => Q3_K,
            _ => Q5_K,
        };
    };
    let n_layers = dimensions.n_layers;
    match (target, part) {
        (Target::Q2_K, "attn_v") if dimensions.group >= 4 => Q4_K,
        (Target::Q2_K, "attn_v" | "attn_output" | "ffn_down") => Q3_K,
        (Target::Q2_K, _) => Q2_K,
        (Target::Q3_K_M, "attn_v") if layer < 2 => Q5_K,
        (Target::Q3_K_M, "ffn_down") if layer < n_layers / 16 => Q5_K,
        (Target::Q3_K_M, "attn_v" | "attn_output" | "ffn_down") => Q4_K,
        (Target::Q3_K_M, _) => Q3_K,
        (_, "attn_v" | "ffn_down") if use_more_bits(layer, n_layers) => Q6_K,
        _ => Q5_K,
    }
}

/// `blk.3.attn_v.weight` → 3 and `attn_v`.
#[must_use]
pub fn layer_and_part(name: &str) -> Option<(usize, &str)> {
    let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
    let (part, _) = rest.split_once('.')?;
    Some((layer.parse().ok()?, part))
}

/// Whether a tensor gives the logits.
#[must_use]
pub fn is_output(name: &str, dimensions: &Dimensions) -> bool {
    name == if dimensions.tied { "token_embd.weight" } else { "output.weight" }
}
