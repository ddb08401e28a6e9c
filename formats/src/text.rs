//! Converts text to tokens and back, and renders chat templates, as `tokenizer.json` and
//! `tokenizer_config.json`, or the metadata of a GGUF file, specify.

#[cfg(feature = "text")]
mod template;
mod tokenizer;

#[cfg(feature = "text")]
pub use template::ChatTemplate;
pub use tokenizer::Tokenizer;
