//! Text to tokens and back, and the chat template: what `tokenizer.json` and `tokenizer_config.json` say.

mod template;
mod tokenizer;

pub use template::ChatTemplate;
pub use tokenizer::Tokenizer;
