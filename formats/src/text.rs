//! Text to tokens and back, and the chat template: what `tokenizer.json` and
//! `tokenizer_config.json` say, or the metadata of a GGUF file.

mod gguf;
mod json;
mod template;
mod tokenizer;

pub use template::ChatTemplate;
pub use tokenizer::Tokenizer;
