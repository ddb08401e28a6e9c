//! The parts of a GGUF file: block types, metadata values, tensor entries. Week 2 teaches how to
//! read and write such files.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

pub mod convert;
mod finite;
mod metadata;
mod names;
pub mod random;
mod tensor_type;

pub use metadata::{Array, Metadata, Value};
pub use names::{gguf_name, hugging_face_name};
pub use tensor_type::TensorType;

/// The first four bytes of a GGUF file.
pub const MAGIC: [u8; 4] = *b"GGUF";
/// The version of the GGUF format that this engine writes. It reads versions 2 and 3, which differ
/// only in that version 3 may be big-endian. It does not read version 1, which had 32-bit counts.
pub const VERSION: u32 = 3;
/// The offset of each tensor is a multiple of this, unless `general.alignment` says otherwise.
pub const DEFAULT_ALIGNMENT: usize = 32;

/// A boolean key that this project defines. It says whether text is converted to Unicode's normal
/// form C before it is split. Some tokenizers with the same `tokenizer.ggml.pre` differ in this.
/// Without this key, only Qwen2's tokenizers convert text to this form.
pub const NORMALIZES: &str = "tiny-llm.tokenizer.nfc";
/// A boolean key that this project defines. It says whether text is converted to lower case before
/// it is split.
pub const LOWERCASE: &str = "tiny-llm.tokenizer.lowercase";
/// A boolean key that this project defines. It says whether a word that is itself a token is used
/// whole, without merging its bytes. This is Hugging Face's `ignore_merges`. Without this key, only
/// Llama 3's tokenizers use such words whole.
pub const WHOLE_WORDS: &str = "tiny-llm.tokenizer.whole_words";
/// A value that this project defines for `tokenizer.ggml.pre`: the whole text is one piece.
pub const WHOLE: &str = "tiny-llm-whole";
/// A key that this project defines. It says when a space is added before a text. It is written only
/// if `tokenizer.ggml.add_space_prefix` cannot express this. Its values `metaspace-first` and
/// `metaspace-always` are named after the `prepend_scheme` of Hugging Face's `Metaspace`, which
/// adds no space if there already is one.
pub const SPACE_PREFIX: &str = "tiny-llm.tokenizer.space_prefix";

/// The numbers in `tokenizer.ggml.token_type`.
#[allow(missing_docs, reason = "the names say it")]
pub mod token_type {
    pub const NORMAL: i32 = 1;
    pub const UNKNOWN: i32 = 2;
    /// The type of tokens that begin or end a text or a turn. The tokenizer finds them in a text
    /// before it does anything else.
    pub const CONTROL: i32 = 3;
    /// The type of added tokens that are ordinary text. Like tokens of the type [`CONTROL`], they
    /// are found in a text before anything else is done.
    pub const USER_DEFINED: i32 = 4;
    pub const UNUSED: i32 = 5;
    /// The type of tokens of a single byte. They spell characters that have no token.
    pub const BYTE: i32 = 6;
}

/// A tensor's entry in the tensor table of a GGUF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// The name that llama.cpp uses, such as `blk.0.attn_q.weight`.
    pub name: String,
    /// Size of each axis, the slowest axis first: a matrix is `[rows, cols]`. This is the order
    /// everywhere in this course, but the file has the fastest axis first.
    pub shape: Vec<usize>,
    /// The type in which the tensor is stored.
    pub tensor_type: TensorType,
    /// Offset of the first byte from the start of the data section.
    pub offset: usize,
    /// Number of bytes, which follows from shape and type.
    pub size: usize,
}

/// The progress of writing a model's tensors.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Name of the tensor that is being written.
    pub name: &'a str,
    /// The type in which this tensor is written.
    pub tensor_type: TensorType,
    /// Number of weights that are already written, in all tensors.
    pub done: usize,
    /// Number of weights in all tensors.
    pub total: usize,
}
