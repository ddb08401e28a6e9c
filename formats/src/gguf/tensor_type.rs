//! The types in which tensors are stored: plain numbers, or blocks of weights that share a scale.

use std::{fmt, str::FromStr};

/// The types of stored tensors that this engine supports. A block is the smallest piece of a tensor
/// that can be decoded on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(non_camel_case_types, reason = "these are the field's names")]
pub enum TensorType {
    /// 32-bit floats.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of a 32-bit float.
    BF16,
    /// 32 weights of 4 bits, one scale.
    Q4_0,
    /// 32 weights of 4 bits, scale and minimum.
    Q4_1,
    /// 32 weights of 5 bits, one scale.
    Q5_0,
    /// 32 weights of 5 bits, scale and minimum.
    Q5_1,
    /// 32 weights of 8 bits, one scale.
    Q8_0,
    /// 256 weights of 2 bits, 16 scales and minimums of 4 bits.
    Q2_K,
    /// 256 weights of 3 bits, 16 scales of 6 bits.
    Q3_K,
    /// 256 weights of 4 bits, 8 scales and minimums of 6 bits.
    Q4_K,
    /// 256 weights of 5 bits, 8 scales and minimums of 6 bits.
    Q5_K,
    /// 256 weights of 6 bits, 16 scales of 8 bits.
    Q6_K,
    /// 32 floats of 4 bits, and one scale that is a power of two. The experts of gpt-oss have this
    /// type, which is read but never written.
    MXFP4,
}

/// Name, number in a GGUF file, weights of a block, bytes of a block: in the order of the variants.
const TYPES: [(&str, u32, usize, usize); 14] = [
    ("F32", 0, 1, 4),
    ("F16", 1, 1, 2),
    ("BF16", 30, 1, 2),
    ("Q4_0", 2, 32, 2 + 16),
    ("Q4_1", 3, 32, 2 + 2 + 16),
    ("Q5_0", 6, 32, 2 + 4 + 16),
    ("Q5_1", 7, 32, 2 + 2 + 4 + 16),
    ("Q8_0", 8, 32, 2 + 32),
    ("Q2_K", 10, 256, 16 + 64 + 2 + 2),
    ("Q3_K", 11, 256, 32 + 64 + 12 + 2),
    ("Q4_K", 12, 256, 2 + 2 + 12 + 128),
    ("Q5_K", 13, 256, 2 + 2 + 12 + 32 + 128),
    ("Q6_K", 14, 256, 128 + 64 + 16 + 2),
    ("MXFP4", 39, 32, 1 + 16),
];
const _: () = assert!(TYPES.len() == TensorType::MXFP4 as usize + 1);

impl TensorType {
    /// Every type that is read and written, plain ones first: all but [`TensorType::MXFP4`].
    pub const ALL: [Self; 13] = [
        Self::F32,
        Self::F16,
        Self::BF16,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q2_K,
        Self::Q3_K,
        Self::Q4_K,
        Self::Q5_K,
        Self::Q6_K,
    ];

    /// Every type that is read, in the order of the variants' discriminants.
    pub const READ: [Self; 14] = {
        let (mut read, mut i) = ([Self::MXFP4; 14], 0);
        while i < Self::ALL.len() {
            read[i] = Self::ALL[i];
            i += 1;
        }
        read
    };

    /// Returns the type's number in a GGUF file (`ggml_type`).
    #[must_use]
    pub const fn id(self) -> u32 {
        TYPES[self as usize].1
    }

    /// Returns the type with this number, if this engine supports it.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        Self::READ.into_iter().find(|tensor_type| tensor_type.id() == id)
    }

    /// Returns the usual name of the type with this number, for error messages. Includes types that
    /// this engine doesn't support.
    #[must_use]
    pub fn name_of_id(id: u32) -> Option<&'static str> {
        Some(match id {
            9 => "Q8_1",
            15 => "Q8_K",
            16 => "IQ2_XXS",
            17 => "IQ2_XS",
            18 => "IQ3_XXS",
            19 => "IQ1_S",
            20 => "IQ4_NL",
            21 => "IQ3_S",
            22 => "IQ2_S",
            23 => "IQ4_XS",
            24 => "I8",
            25 => "I16",
            26 => "I32",
            27 => "I64",
            28 => "F64",
            29 => "IQ1_M",
            34 => "TQ1_0",
            35 => "TQ2_0",
            _ => return Self::from_id(id).map(Self::name),
        })
    }

    /// Returns the number of weights in a block.
    #[must_use]
    pub const fn block_len(self) -> usize {
        TYPES[self as usize].2
    }

    /// Returns the number of bytes in a block.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        TYPES[self as usize].3
    }

    /// Returns the number of bytes of a row of `cols` weights. Returns `None` if the row is not a
    /// whole number of blocks, or if the number overflows.
    #[must_use]
    pub const fn row_bytes(self, cols: usize) -> Option<usize> {
        if !cols.is_multiple_of(self.block_len()) {
            return None;
        }
        (cols / self.block_len()).checked_mul(self.block_bytes())
    }

    /// Returns the type's usual name, such as `Q4_K`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        TYPES[self as usize].0
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TensorType {
    type Err = String;

    /// Parses the name of a type in [`TensorType::ALL`], in upper or lower case.
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|tensor_type| tensor_type.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                format!(
                    "found type {name:?}, expected one of {}",
                    Self::ALL.map(Self::name).join(", ")
                )
            })
    }
}
