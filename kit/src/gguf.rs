//! The vocabulary of GGUF files: block types, metadata values, tensor entries. Reading and writing them is taught in week 2.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

mod metadata;
mod names;
mod tensor_type;

pub use metadata::{Array, Metadata, Value};
pub use names::gguf_name;
pub use tensor_type::TensorType;

/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = *b"GGUF";
/// The version that is read and written. Version 1 had 32-bit counts; 2 and 3 differ only in that 3 may be big-endian.
pub const VERSION: u32 = 3;
/// Tensors begin at multiples of this, unless `general.alignment` says otherwise.
pub const DEFAULT_ALIGNMENT: usize = 32;

/// One entry of the tensor table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// As llama.cpp names it: `blk.0.attn_q.weight`.
    pub name: String,
    /// Slowest axis first, as everywhere in this course: a matrix is `[rows, cols]`. The file stores the fastest first.
    pub shape: Vec<usize>,
    /// How its numbers are stored.
    pub tensor_type: TensorType,
    /// First byte, from the start of the data section.
    pub offset: usize,
    /// Number of bytes, by shape and type.
    pub size: usize,
}
