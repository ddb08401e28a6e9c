//! What an answer looks like, as it grows and once it is whole.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use tiny_llm_cli::Chosen;
use tiny_llm_formats::{FinishReason, text::Tokenizer};

use super::{
    ask::Ask,
    calls::{Finder, Part},
    holdback::Holdback,
    kind::Kind,
    logprobs::logprobs,
};
use crate::engine::Reply;

/// What all parts of an answer have in common.
pub(crate) struct Head {
    kind: Kind,
    id: String,
    created: u64,
    model: String,
    /// Whether log-probabilities were asked for.
    logprobs: bool,
    /// Whether an answer may call a tool.
    calls: bool,
    tokenizer: Arc<Tokenizer>,
}

/// One of a request's answers.
#[derive(Default)]
struct Choice {
    text: Holdback,
    /// Finds calls in it, if there may be any.
    finder: Option<Finder>,
    /// How many there were.
    called: usize,
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
    calls: Vec<Call>,
    /// Where the piece begins, in letters.
    start: usize,
    chosen: Vec<Chosen>,
    reason: Option<&'static str>,
}

/// What it adds to a call.
struct Call {
    /// The call's number in its answer.
    index: usize,
    /// The tool that is called, if the call begins here.
    name: Option<String>,
    /// More of its arguments.
    arguments: String,
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
            calls: ask.calls.is_some(),
            tokenizer,
        };
        let choice = || Choice {
            text: Holdback::new(ask.stop.clone()),
            finder: ask.calls.clone(),
            ..Choice::default()
        };
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
        let (text, calls) = place.parts(text, reason.is_some());
        // What was called is whole, however the answer ended.
        let reason = reason.map(|reason| if place.called > 0 { "tool_calls" } else { reason });
        place.reason = reason;
        if text.is_empty() && calls.is_empty() && reason.is_none() {
            return None;
        }
        let start = place.letters;
        place.letters += text.chars().count();
        let chosen = std::mem::take(&mut place.chosen);
        Some(Piece { choice, text, calls, start, chosen, reason })
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

impl Choice {
    /// What more text means: text for whoever asked, and what it adds to calls, a call after the
    /// other.
    fn parts(&mut self, text: String, last: bool) -> (String, Vec<Call>) {
        let Some(finder) = &mut self.finder else { return (text, Vec::new()) };
        let mut parts = finder.push(&text);
        if last {
            parts.extend(finder.finish());
        }
        let (mut text, mut calls) = (String::new(), Vec::<Call>::new());
        for part in parts {
            match part {
                Part::Content(more) => text += &more,
                Part::Name(name) => {
                    let arguments = String::new();
                    calls.push(Call { index: self.called, name: Some(name), arguments });
                    self.called += 1;
                }
                Part::Arguments(more) => match calls.last_mut() {
                    Some(call) => call.arguments += &more,
                    None => {
                        calls.push(Call { index: self.called - 1, name: None, arguments: more });
                    }
                },
            }
        }
        (text, calls)
    }
}

impl Head {
    /// A call's name, so that what it brought can be told from others.
    fn call_id(&self, choice: usize, index: usize) -> String {
        let own = self.id.split_once('-').map_or("", |(_, own)| own);
        format!("call_{own}{choice:02x}{index:02x}")
    }

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
        let content = if self.calls { Value::Null } else { "".into() };
        let delta = json!({ "role": "assistant", "content": content });
        (self.kind == Kind::Chat).then(
            || json!({ "index": choice, "delta": delta, "logprobs": null, "finish_reason": null }),
        )
    }

    /// A piece of a stream.
    pub(crate) fn piece(&self, piece: &Piece) -> Value {
        let Piece { choice, text, calls, start, chosen, reason } = piece;
        let logprobs = self.logprobs(chosen, *start);
        match self.kind {
            Kind::Chat => {
                let mut delta = json!({});
                if !text.is_empty() {
                    delta["content"] = text.as_str().into();
                }
                if !calls.is_empty() {
                    let calls = calls.iter().map(|call| self.call(*choice, call));
                    delta["tool_calls"] = calls.collect();
                }
                json!({ "index": choice, "delta": delta, "logprobs": logprobs, "finish_reason": reason })
            }
            Kind::Completion => json!({
                "index": choice, "text": text, "logprobs": logprobs, "finish_reason": reason,
            }),
        }
    }

    /// What a piece adds to a call.
    fn call(&self, choice: usize, call: &Call) -> Value {
        let Call { index, name, arguments } = call;
        let mut value = json!({ "index": index, "function": { "arguments": arguments } });
        if let Some(name) = name {
            value["id"] = self.call_id(choice, *index).into();
            value["type"] = "function".into();
            value["function"]["name"] = name.as_str().into();
        }
        value
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
    /// The tools that were called, and with what.
    calls: Vec<(String, String)>,
    chosen: Vec<Chosen>,
    reason: Option<&'static str>,
}

impl Whole {
    pub(crate) fn add(wholes: &mut [Self], piece: Piece) {
        let whole = &mut wholes[piece.choice];
        whole.text += &piece.text;
        for call in piece.calls {
            whole.calls.extend(call.name.map(|name| (name, String::new())));
            if let Some((_, arguments)) = whole.calls.last_mut() {
                *arguments += &call.arguments;
            }
        }
        whole.chosen.extend(piece.chosen);
        whole.reason = piece.reason.or(whole.reason);
    }

    pub(crate) fn json(self, index: usize, head: &Head) -> Value {
        let Self { text, calls, chosen, reason } = self;
        let logprobs = head.logprobs(&chosen, 0);
        match head.kind {
            Kind::Chat => {
                let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
                if !calls.is_empty() {
                    if text.is_empty() {
                        message["content"] = Value::Null;
                    }
                    let call = |(i, (name, arguments))| {
                        json!({
                            "id": head.call_id(index, i),
                            "type": "function",
                            "function": { "name": name, "arguments": arguments },
                        })
                    };
                    message["tool_calls"] = calls.into_iter().enumerate().map(call).collect();
                }
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
