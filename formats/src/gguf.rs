//! The vocabulary of GGUF files: block types, metadata values, tensor entries. Reading and writing
//! them is taught in week 2.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

pub mod convert;
mod finite;
mod metadata;
mod names;
mod tensor_type;

pub use metadata::{Array, Metadata, Value};
pub use names::{gguf_name, hugging_face_name};
pub use tensor_type::TensorType;

/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = *b"GGUF";
/// The version that is read and written. Version 1 had 32-bit counts; 2 and 3 differ only in that 3
/// may be big-endian.
pub const VERSION: u32 = 3;
/// Tensors begin at multiples of this, unless `general.alignment` says otherwise.
pub const DEFAULT_ALIGNMENT: usize = 32;

/// Whether text is brought into Unicode's normal form C before it is split: a key of our own (a
/// truth value), for tokenizers that do not do what others of their `tokenizer.ggml.pre` do.
/// Without it, those of Qwen2 do, and no others.
pub const NORMALIZES: &str = "tiny-llm.tokenizer.nfc";
/// Whether capitals become small letters before a text is split: a key of our own (a truth value).
pub const LOWERCASE: &str = "tiny-llm.tokenizer.lowercase";
/// Whether a word that is a token as it stands is not merged from its bytes: a key of our own (a
/// truth value), as `ignore_merges` of Hugging Face. Without it, only Llama 3's are.
pub const WHOLE_WORDS: &str = "tiny-llm.tokenizer.whole_words";
/// A value of our own for `tokenizer.ggml.pre`: a text is merged as one piece.
pub const WHOLE: &str = "tiny-llm-whole";
/// Where a space is put before a text: a key of our own, for what `tokenizer.ggml.add_space_prefix`
/// cannot say: `metaspace-first` or `metaspace-always`, as the `prepend_scheme` of Hugging Face's
/// `Metaspace`, which puts none where one is already.
pub const SPACE_PREFIX: &str = "tiny-llm.tokenizer.space_prefix";

/// The numbers in `tokenizer.ggml.token_type`.
#[allow(missing_docs, reason = "the names say it")]
pub mod token_type {
    pub const NORMAL: i32 = 1;
    pub const UNKNOWN: i32 = 2;
    /// Found in text before everything else: begins and ends texts and turns.
    pub const CONTROL: i32 = 3;
    /// Found in text before everything else, and text itself.
    pub const USER_DEFINED: i32 = 4;
    pub const UNUSED: i32 = 5;
    /// One byte, for characters that have no token.
    pub const BYTE: i32 = 6;
}

/// One entry of the tensor table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// As llama.cpp names it: `blk.0.attn_q.weight`.
    pub name: String,
    /// Slowest axis first, as everywhere in this course: a matrix is `[rows, cols]`. The file
    /// stores the fastest first.
    pub shape: Vec<usize>,
    /// How its numbers are stored.
    pub tensor_type: TensorType,
    /// First byte, from the start of the data section.
    pub offset: usize,
    /// Number of bytes, by shape and type.
    pub size: usize,
}

/// How far a writer of tensors is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The tensor that comes next.
    pub name: &'a str,
    /// What it becomes.
    pub tensor_type: TensorType,
    /// Weights that are done, of all tensors.
    pub done: usize,
    /// Weights of all tensors.
    pub total: usize,
}
