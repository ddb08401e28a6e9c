//! Day 4. A converter's recipe: the order in which the rows of a matrix are written to the file,
//! and the type of each tensor.
//!
//! Tasks here: week2-day4 task 5 (`permute_rows_for_interleaved`, `permute_rows_for_half_split`,
//! `row_order`, `use_more_bits`, `q4_k_m`, `fitting`). Everything else is provided.

use tiny_llm_formats::{
    config::{Family, ModelConfig},
    gguf::TensorType,
};

/// Properties of a model that, with a tensor's name and shape, determine the tensor's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    /// Number of transformer blocks.
    pub n_layers: usize,
    /// Number of query heads per key and value head, `H_q / H`. Only the mix `Q2_K` (provided)
    /// uses it.
    pub group: usize,
    /// Whether the embedding is also the output head.
    pub tied: bool,
}

/// Maps the rows of a projection in a GGUF file (Llama family) to those of the Hugging Face
/// checkpoint. Element `r` of the result is the index that the file's row `r` has in the
/// checkpoint. The projection has `rows` rows and `n_heads` heads. RoPE rotates the rows of a head
/// in pairs. In the checkpoint, a pair is row `i` of the head's first half and row `i` of its
/// second half. In the file, the two rows of a pair are neighbours.
///
/// # Panics
/// If `rows` is not a multiple of `2 · n_heads`, or `n_heads` is 0.
#[must_use]
pub fn permute_rows_for_interleaved(rows: usize, n_heads: usize) -> Vec<usize> {
    assert!(
        n_heads > 0 && rows.is_multiple_of(2 * n_heads),
        "{rows} rows are not {n_heads} heads of an even size"
    );
    todo!("week2-day4 task 5: permute_rows_for_interleaved")
}

/// Returns the inverse of [`permute_rows_for_interleaved`]. Element `r` of the result is the index
/// that the checkpoint's row `r` has in the file.
///
/// # Panics
/// The same as for [`permute_rows_for_interleaved`].
#[must_use]
pub fn permute_rows_for_half_split(rows: usize, n_heads: usize) -> Vec<usize> {
    assert!(
        n_heads > 0 && rows.is_multiple_of(2 * n_heads),
        "{rows} rows are not {n_heads} heads of an even size"
    );
    todo!("week2-day4 task 5: permute_rows_for_half_split")
}

/// Maps the rows of a tensor in the GGUF file to those of a checkpoint with this configuration.
/// Element `r` of the result is the index that the file's row `r` has in the checkpoint. Returns
/// `None` if both have the same order. `name` is the tensor's name in the file, such as
/// `blk.0.attn_q.weight`. A bias is permuted like the rows of its weight.
///
/// # Panics
/// The same as for [`permute_rows_for_interleaved`].
#[must_use]
pub fn row_order(config: &ModelConfig, name: &str) -> Option<Vec<usize>> {
    todo!("week2-day4 task 5: row_order")
}

/// Returns whether a mix of types such as `Q4_K_M` uses more bits for this layer. The result is
/// true for the first `n_layers / 8` layers, and for the layers from index `7 · n_layers / 8` on.
/// Both divisions round down. Of the layers between these two groups, it is true for the third, the
/// sixth, the ninth and so on.
#[must_use]
pub fn use_more_bits(layer: usize, n_layers: usize) -> bool {
    todo!("week2-day4 task 5: use_more_bits")
}

/// Returns a matrix's type in the mix `Q4_K_M`. ([`fitting`] handles rows that are not whole
/// blocks.)
/// - `Q6_K` for the output head, which may be the embedding (see [`is_output`]).
/// - `Q6_K` for `attn_v` and `ffn_down` in the layers for which [`use_more_bits`] is true.
/// - `Q4_K` for everything else.
#[must_use]
pub fn q4_k_m(name: &str, dimensions: &Dimensions) -> TensorType {
    todo!("week2-day4 task 5: q4_k_m")
}

/// Returns a type in which rows of `cols` weights can be stored:
/// - `tensor_type` if the rows are whole blocks of it (see [`TensorType::block_len`]).
/// - Otherwise the next larger type with blocks of 32: `Q4_0` for `Q2_K` and `Q3_K`, `Q5_0` for
///   `Q4_K`, `Q5_1` for `Q5_K`, and `Q8_0` for `Q6_K`.
/// - `F16` if the rows are not whole blocks of 32 either.
#[must_use]
pub fn fitting(tensor_type: TensorType, cols: usize) -> TensorType {
    todo!("week2-day4 task 5: fitting")
}

/// Returns the layer and the part that a tensor's name contains: `blk.3.attn_v.weight` → 3 and
/// `attn_v`. Returns `None` if the name does not have this form.
#[must_use]
pub fn layer_and_part(name: &str) -> Option<(usize, &str)> {
    let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
    let (part, _) = rest.split_once('.')?;
    Some((layer.parse().ok()?, part))
}

/// Returns whether a tensor is the output head.
#[must_use]
pub fn is_output(name: &str, dimensions: &Dimensions) -> bool {
    name == if dimensions.tied { "token_embd.weight" } else { "output.weight" }
}
