//! Converts text to tokens and back, and renders chat templates. Reads the tokenizer and the
//! template from a model folder, or from the metadata of a GGUF file.

#[cfg(feature = "text")]
mod template;
mod tokenizer;

#[cfg(feature = "text")]
pub use template::ChatTemplate;
pub use tokenizer::Tokenizer;
