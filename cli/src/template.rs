//! How the messages of a conversation become tokens.

use std::path::Path;

use anyhow::{Result, ensure};

use super::Engine;
use tiny_llm_formats::{
    chat::Message,
    text::{ChatTemplate, Tokenizer},
};

/// Whose template it is.
pub(super) enum Template {
    /// The model's own.
    Own(Box<ChatTemplate>),
    /// The solution's ChatML.
    ChatMl,
}

impl Template {
    /// The model's template is the authority. Where it is plain ChatML, or there is none and the
    /// vocabulary has ChatML's tokens, the solution's own function writes the text.
    pub(super) fn of(
        own: Option<ChatTemplate>,
        model: &Path,
        tokenizer: &Tokenizer,
    ) -> Result<Self> {
        if let Some(own) = own {
            let probe = [Message::new("system", "s"), Message::new("user", "u")];
            let same =
                |messages, text| own.render(messages, true).is_ok_and(|rendered| rendered == text);
            let plain = same(
                &probe[..],
                "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n",
            ) && same(
                &probe[1..],
                "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n",
            );
            return Ok(if plain { Self::ChatMl } else { Self::Own(Box::new(own)) });
        }
        ensure!(
            tokenizer.encode("<|im_start|><|im_end|>")?.len() == 2,
            "{}: found no chat template, expected chat_template.jinja or the field \"chat_template\" of tokenizer_config.json (in a GGUF \
             file: metadata tokenizer.chat_template); `chat --raw`, `generate` and a plain prompt need none",
            model.display()
        );
        Ok(Self::ChatMl)
    }

    /// The tokens of a conversation, ending where the answer begins.
    pub(super) fn tokens<E: Engine>(
        &self,
        messages: &[Message],
        tokenizer: &Tokenizer,
    ) -> Result<Vec<u32>> {
        match self {
            Self::Own(own) => tokenizer.encode(&own.render(messages, true)?),
            Self::ChatMl => tokenizer.encode(&E::chatml(messages)),
        }
    }
}
