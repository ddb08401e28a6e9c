//! What an answer looks like, as it grows and once it is whole.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use tiny_llm_cli::Chosen;
use tiny_llm_formats::{FinishReason, text::Tokenizer};

use super::{ask::Ask, holdback::Holdback, kind::Kind, logprobs::logprobs};
use crate::engine::Reply;

/// What all parts of an answer have in common.
pub(crate) struct Head {
    kind: Kind,
    id: String,
    created: u64,
    model: String,
    /// Whether log-probabilities were asked for.
    logprobs: bool,
    tokenizer: Arc<Tokenizer>,
}

/// One of a request's answers.
#[derive(Default)]
struct Choice {
    text: Holdback,
    /// Letters that have been handed out.
    letters: usize,
    /// Of tokens that no piece has told of yet.
    chosen: Vec<Chosen>,
    reason: Option<&'static str>,
}

/// A request's answers, as they come.
pub(crate) struct Answers {
    pub(crate) head: Head,
    choices: Vec<Choice>,
    prompt_tokens: usize,
    new_tokens: usize,
}

/// What a reply of the engine adds to an answer.
pub(crate) struct Piece {
    choice: usize,
    text: String,
    /// Where the piece begins, in letters.
    start: usize,
    chosen: Vec<Chosen>,
    reason: Option<&'static str>,
}

impl Answers {
    /// Before anything has come.
    pub(crate) fn new(
        ask: &Ask,
        ticket: u64,
        prompt_tokens: usize,
        model: &str,
        tokenizer: Arc<Tokenizer>,
    ) -> Self {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let head = Head {
            kind: ask.kind,
            // Two servers' answers have different names, too.
            id: format!("{}-{:x}{ticket:08x}", ask.kind.prefix(), created),
            created,
            model: model.to_owned(),
            logprobs: ask.extras.logprobs.is_some(),
            tokenizer,
        };
        let choice = || Choice { text: Holdback::new(ask.stop.clone()), ..Choice::default() };
        let choices = (0..ask.answers()).map(|_| choice()).collect();
        Self { head, choices, prompt_tokens, new_tokens: 0 }
    }

    /// Takes a reply, and returns what a client may see of it.
    pub(crate) fn take(&mut self, reply: Reply) -> Option<Piece> {
        let (choice, text, reason) = match reply {
            Reply::Token { choice, text, chosen } => {
                self.new_tokens += 1;
                let place = &mut self.choices[choice];
                place.chosen.extend(chosen);
                (choice, place.text.push(&text), None)
            }
            Reply::Finished { choice, text, reason } => {
                let place = &mut self.choices[choice];
                let text = place.text.push(&text) + &place.text.finish();
                (choice, text, Some(word(reason)))
            }
        };
        let place = &mut self.choices[choice];
        place.reason = reason;
        if text.is_empty() && reason.is_none() {
            return None;
        }
        let start = place.letters;
        place.letters += text.chars().count();
        let chosen = std::mem::take(&mut place.chosen);
        Some(Piece { choice, text, start, chosen, reason })
    }

    /// Whether nothing more comes.
    pub(crate) fn are_whole(&self) -> bool {
        self.choices.iter().all(|choice| choice.reason.is_some())
    }

    /// How many answers there are.
    pub(crate) fn len(&self) -> usize {
        self.choices.len()
    }

    /// How many tokens there were.
    pub(crate) fn usage(&self) -> Value {
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.new_tokens,
            "total_tokens": self.prompt_tokens + self.new_tokens,
        })
    }
}

impl Head {
    /// The outermost object, with these choices.
    pub(crate) fn object(&self, stream: bool, choices: Vec<Value>) -> Value {
        json!({
            "id": self.id,
            "object": self.kind.object(stream),
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    /// What a streamed chat begins with, for each answer.
    pub(crate) fn opening(&self, choice: usize) -> Option<Value> {
        let delta = json!({ "role": "assistant", "content": "" });
        (self.kind == Kind::Chat).then(
            || json!({ "index": choice, "delta": delta, "logprobs": null, "finish_reason": null }),
        )
    }

    /// A piece of a stream.
    pub(crate) fn piece(&self, piece: &Piece) -> Value {
        let Piece { choice, text, start, chosen, reason } = piece;
        let logprobs = self.logprobs(chosen, *start);
        match self.kind {
            Kind::Chat => {
                let delta = if text.is_empty() { json!({}) } else { json!({ "content": text }) };
                json!({ "index": choice, "delta": delta, "logprobs": logprobs, "finish_reason": reason })
            }
            Kind::Completion => json!({
                "index": choice, "text": text, "logprobs": logprobs, "finish_reason": reason,
            }),
        }
    }

    fn logprobs(&self, chosen: &[Chosen], start: usize) -> Value {
        if !self.logprobs {
            return Value::Null;
        }
        logprobs(self.kind, chosen, start, &self.tokenizer)
    }
}

/// An answer that is put together before it is sent.
#[derive(Default)]
pub(crate) struct Whole {
    text: String,
    chosen: Vec<Chosen>,
    reason: Option<&'static str>,
}

impl Whole {
    pub(crate) fn add(wholes: &mut [Self], piece: Piece) {
        let whole = &mut wholes[piece.choice];
        whole.text += &piece.text;
        whole.chosen.extend(piece.chosen);
        whole.reason = piece.reason.or(whole.reason);
    }

    pub(crate) fn json(self, index: usize, head: &Head) -> Value {
        let Self { text, chosen, reason } = self;
        let logprobs = head.logprobs(&chosen, 0);
        match head.kind {
            Kind::Chat => {
                let message = json!({ "role": "assistant", "content": text, "refusal": null });
                json!({
                    "index": index, "message": message, "logprobs": logprobs,
                    "finish_reason": reason,
                })
            }
            Kind::Completion => json!({
                "index": index, "text": text, "logprobs": logprobs, "finish_reason": reason,
            }),
        }
    }
}

fn word(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Length | FinishReason::ContextFull => "length",
        // A request is cancelled when nobody waits for its answer, so nobody reads this.
        FinishReason::Stop | FinishReason::Interrupted => "stop",
    }
}
