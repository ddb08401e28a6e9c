//! Conversion of a conversation's messages to tokens.

use std::path::Path;

use anyhow::{Result, ensure};

use tiny_llm_formats::{
    chat::Message,
    text::{ChatTemplate, Tokenizer},
};
use tiny_llm_schema::{Json, Style};

/// A chat template.
pub(super) enum Template {
    /// The model's own template.
    Own(Box<ChatTemplate>),
    /// ChatML, formatted by the solution.
    ChatMl(fn(&[Message]) -> String),
}

impl Template {
    /// Chooses the template: usually `own`, the model's own. If `own` is plain ChatML, or is `None`
    /// and the vocabulary has ChatML's tokens, chooses `chatml`, the solution's function.
    pub(super) fn of(
        own: Option<ChatTemplate>,
        chatml: fn(&[Message]) -> String,
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
            return Ok(if plain { Self::ChatMl(chatml) } else { Self::Own(Box::new(own)) });
        }
        ensure!(
            tokenizer.encode("<|im_start|><|im_end|>")?.len() == 2,
            "{}: found no chat template, expected chat_template.jinja or the field \
             \"chat_template\" of tokenizer_config.json (in a GGUF file: metadata \
             tokenizer.chat_template); without a template, use `chat --raw`, `generate` or a \
             \"prompt\" instead of \"messages\"",
            model.display()
        );
        Ok(Self::ChatMl(chatml))
    }

    /// Returns the syntax in which the model writes tool calls.
    pub(super) fn style(&self) -> Style {
        match self {
            Self::Own(own) if own.mentions("<tool_call>") => Style::TAGS,
            Self::Own(_) | Self::ChatMl(_) => Style::PLAIN,
        }
    }

    /// Returns the tokens of a conversation in which the model may call `tools`. If the template
    /// doesn't support tools, lists them in the system message, as in the embedded model's training
    /// data.
    pub(super) fn tokens_with(
        &self,
        messages: &[Message],
        tools: &[Json],
        tokenizer: &Tokenizer,
    ) -> Result<Vec<u32>> {
        match self {
            _ if tools.is_empty() => self.tokens(messages, tokenizer),
            Self::Own(own) if own.mentions("tools") => {
                tokenizer.encode(&own.render_with(messages, &tools, true)?)
            }
            _ => self.tokens(&listed(messages, tools), tokenizer),
        }
    }

    /// Returns the tokens of a conversation, ending where the answer begins.
    pub(super) fn tokens(&self, messages: &[Message], tokenizer: &Tokenizer) -> Result<Vec<u32>> {
        match self {
            Self::Own(own) => tokenizer.encode(&own.render(messages, true)?),
            Self::ChatMl(chatml) => tokenizer.encode(&chatml(messages)),
        }
    }
}

/// Returns the messages with a list of the tools in the system message: names, parameter names and,
/// if given, descriptions. Inserts a system message if the first message isn't one.
fn listed(messages: &[Message], tools: &[Json]) -> Vec<Message> {
    let mut text = "You can call these tools:".to_owned();
    for tool in tools.iter().filter_map(|tool| tool.get("function")) {
        let field = |name| tool.get(name).map_or_else(|| "null".to_owned(), Json::to_string);
        text += &format!("\n{{\"name\": {}, ", field("name"));
        if tool.get("description").is_some() {
            text += &format!("\"description\": {}, ", field("description"));
        }
        let properties = tool.get("parameters").and_then(|schema| schema.get("properties"));
        let names = match properties {
            Some(Json::Object(fields)) => fields.iter().map(|(name, _)| name.clone()).collect(),
            _ => Vec::new(),
        };
        let names: Vec<String> = names.into_iter().map(|n| Json::Text(n).to_string()).collect();
        text += &format!("\"parameters\": [{}]}}", names.join(", "));
    }
    let mut messages = messages.to_vec();
    match messages.first_mut().filter(|first| first.role == "system") {
        Some(first) => first.content += &format!("\n{text}"),
        None => messages.insert(0, Message::new("system", &text)),
    }
    messages
}
