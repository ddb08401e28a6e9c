//! Log-probabilities in an answer.

use serde_json::{Map, Value, json};
use tiny_llm_formats::request::Chosen;
use tiny_llm_formats::text::Tokenizer;

use super::kind::Kind;

/// Formats the log-probabilities `all` of an answer or a chunk. `start` is the number of the
/// answer's characters before the chunk.
pub(super) fn logprobs(kind: Kind, all: &[Chosen], start: usize, tokenizer: &Tokenizer) -> Value {
    match kind {
        Kind::Chat => json!({
            "content": all.iter().map(|chosen| of_token(chosen, tokenizer)).collect::<Vec<_>>(),
            "refusal": null,
        }),
        Kind::Completion => of_texts(all, start, tokenizer),
    }
}

/// Formats a token with its log-probability and its bytes. The bytes are needed because a token may
/// contain only part of a character.
fn one(token: u32, logprob: f32, tokenizer: &Tokenizer) -> Map<String, Value> {
    let bytes = tokenizer.token_bytes(token);
    let fields = json!({
        "token": String::from_utf8_lossy(&bytes),
        "logprob": logprob,
        "bytes": bytes,
    });
    let Value::Object(fields) = fields else { unreachable!("it was written as an object") };
    fields
}

fn of_token(chosen: &Chosen, tokenizer: &Tokenizer) -> Value {
    let mut fields = one(chosen.token, chosen.logprob, tokenizer);
    let top = chosen.top.iter().map(|&(token, logprob)| one(token, logprob, tokenizer).into());
    fields.insert("top_logprobs".to_owned(), Value::Array(top.collect()));
    fields.into()
}

fn of_texts(all: &[Chosen], start: usize, tokenizer: &Tokenizer) -> Value {
    let text = |token| String::from_utf8_lossy(&tokenizer.token_bytes(token)).into_owned();
    let mut at = start;
    let mut offsets = Vec::new();
    for chosen in all {
        offsets.push(at);
        at += text(chosen.token).chars().count();
    }
    let top = |chosen: &Chosen| -> Value {
        let pairs = chosen.top.iter().map(|&(token, logprob)| (text(token), logprob.into()));
        // The chosen token is always included, as in OpenAI's API.
        let own = [(text(chosen.token), chosen.logprob.into())];
        pairs.chain(own).collect::<Map<String, Value>>().into()
    };
    json!({
        "tokens": all.iter().map(|chosen| text(chosen.token)).collect::<Vec<_>>(),
        "token_logprobs": all.iter().map(|chosen| chosen.logprob).collect::<Vec<_>>(),
        "top_logprobs": all.iter().map(top).collect::<Vec<_>>(),
        "text_offset": offsets,
    })
}
