//! Text to tokens and back, and the chat template: what `tokenizer.json` and
//! `tokenizer_config.json` say, or the metadata of a GGUF file.

#[cfg(feature = "text")]
mod template;
mod tokenizer;

#[cfg(feature = "text")]
pub use template::ChatTemplate;
pub use tokenizer::Tokenizer;
