//! Day 4. A converter's recipe: in which order the rows of a matrix go into the file, and which
//! type each tensor gets.
//!
//! Tasks here: week2-day4 task 5 (`permute_rows_for_interleaved`, `permute_rows_for_half_split`,
//! `row_order`, `use_more_bits`, `q4_k_m`, `fitting`). Everything else is provided.

use tiny_llm_formats::{
    config::{Family, ModelConfig},
    gguf::TensorType,
};

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
/// the Hugging Face checkpoint that stands there. Within each head, row `i` of the first half and
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

/// The way back: for each row of the Hugging Face checkpoint, the row of the GGUF file that stands
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

/// In which order the rows of a tensor go from a checkpoint of this configuration into a file;
/// `None` if they stay as they are. `name` is the file's: `blk.0.attn_q.weight`. A bias is permuted
/// as the rows that it is added to.
///
/// # Panics
/// As [`permute_rows_for_interleaved`].
#[must_use]
pub fn row_order(config: &ModelConfig, name: &str) -> Option<Vec<usize>> {
    todo!("week2-day4 task 5: row_order")
}

/// Whether a mix spends more bits on this layer: the first eighth of the layers, the last, and
/// every third of those between, beginning with the third. Eighths are rounded down: `n / 8` layers
/// are the first, those from `7 · n / 8` on are the last.
#[must_use]
pub fn use_more_bits(layer: usize, n_layers: usize) -> bool {
    todo!("week2-day4 task 5: use_more_bits")
}

/// The type of a matrix in the mix `Q4_K_M`, before it is known whether its rows are whole blocks.
/// The output head (the embedding, if that is tied) is `Q6_K`, and so are `attn_v` and `ffn_down`
/// of the layers for which [`use_more_bits`] is true; all else is `Q4_K`.
#[must_use]
pub fn q4_k_m(name: &str, dimensions: &Dimensions) -> TensorType {
    todo!("week2-day4 task 5: q4_k_m")
}

/// The type in which rows of `cols` weights can be stored. If they are whole blocks of
/// `tensor_type`, that; else the type of blocks of 32 that comes closest from above: `Q4_0` for
/// `Q2_K` and `Q3_K`, `Q5_0` for `Q4_K`, `Q5_1` for `Q5_K`, `Q8_0` for `Q6_K`; if they are not
/// whole blocks of 32 either, `F16`.
#[must_use]
pub fn fitting(tensor_type: TensorType, cols: usize) -> TensorType {
    todo!("week2-day4 task 5: fitting")
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
