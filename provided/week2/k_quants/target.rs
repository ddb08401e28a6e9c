//! The targets of a conversion. A target determines the type of every tensor.

use std::str::FromStr;

use tiny_llm_formats::gguf::TensorType;

use crate::week2::recipe::{Dimensions, fitting, is_output, layer_and_part, q4_k_m, use_more_bits};

/// The target of a conversion: one type for all matrices, or one of llama.cpp's mixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "these are the field's names")]
pub enum Target {
    /// One type for all matrices. If it is a block format other than `Q8_0`, the output head is
    /// `Q6_K`.
    All(TensorType),
    /// `Q2_K`, but `Q3_K`, `Q4_K` or `Q6_K` for tensors that need more precision.
    Q2_K,
    /// `Q3_K`, but `Q4_K`, `Q5_K` or `Q6_K` for tensors that need more precision.
    Q3_K_M,
    /// `Q4_K`, but `Q6_K` for tensors that need more precision.
    Q4_K_M,
    /// `Q5_K`, but `Q6_K` for tensors that need more precision.
    Q5_K_M,
}

impl Target {
    /// The targets that have a name on llama.cpp's command line, each with that name and its number
    /// in `general.file_type`.
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

    /// Returns the target's number in `general.file_type`. Returns 1, the number of `F16`, if
    /// llama.cpp has no name for the target.
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

    /// Parses a target's name. Ignores case.
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

/// Returns the type of a tensor in the converted file, as llama.cpp chooses it without an
/// importance matrix. Vectors stay `F32`. llama.cpp's exceptions for 70B models and for mixtures of
/// experts are omitted.
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

/// Returns the type of a tensor in a mix other than `Q4_K_M`, which [`q4_k_m`] handles.
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
