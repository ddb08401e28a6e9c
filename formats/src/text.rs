//! Converts text to tokens and back, and renders chat templates. Follows `tokenizer.json` and
//! `tokenizer_config.json`, or the metadata of a GGUF file.

#[cfg(feature = "text")]
mod template;
mod tokenizer;

#[cfg(feature = "text")]
pub use template::ChatTemplate;
pub use tokenizer::Tokenizer;
