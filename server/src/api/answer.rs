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
    /// Finds a call in it, if there may be one.
    finder: Option<Finder>,
    /// Whether there was one.
    called: bool,
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
    /// The tool that is called from here on.
    name: Option<String>,
    /// More of a call's arguments.
    arguments: String,
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
        let (text, name, arguments) = place.parts(text, reason.is_some());
        // What was called is whole, however the answer ended.
        let reason = reason.map(|reason| if place.called { "tool_calls" } else { reason });
        place.reason = reason;
        if text.is_empty() && name.is_none() && arguments.is_empty() && reason.is_none() {
            return None;
        }
        let start = place.letters;
        place.letters += text.chars().count();
        let chosen = std::mem::take(&mut place.chosen);
        Some(Piece { choice, text, name, arguments, start, chosen, reason })
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
    /// What more text means: text for whoever asked, the tool that it begins to call, and more of
    /// the arguments.
    fn parts(&mut self, text: String, last: bool) -> (String, Option<String>, String) {
        let Some(finder) = &mut self.finder else { return (text, None, String::new()) };
        let mut parts = finder.push(&text);
        if last {
            parts.extend(finder.finish());
        }
        let (mut text, mut name, mut arguments) = (String::new(), None, String::new());
        for part in parts {
            match part {
                Part::Content(more) => text += &more,
                Part::Name(found) => name = Some(found),
                Part::Arguments(more) => arguments += &more,
            }
        }
        self.called |= name.is_some();
        (text, name, arguments)
    }
}

impl Head {
    /// A call's name, so that what it brought can be told from others.
    fn call_id(&self, choice: usize) -> String {
        let own = self.id.split_once('-').map_or("", |(_, own)| own);
        format!("call_{own}{choice:02x}")
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
        let Piece { choice, text, name, arguments, start, chosen, reason } = piece;
        let logprobs = self.logprobs(chosen, *start);
        match self.kind {
            Kind::Chat => {
                let mut delta = json!({});
                if !text.is_empty() {
                    delta["content"] = text.as_str().into();
                }
                if name.is_some() || !arguments.is_empty() {
                    let mut call = json!({ "index": 0, "function": { "arguments": arguments } });
                    if let Some(name) = name {
                        call["id"] = self.call_id(*choice).into();
                        call["type"] = "function".into();
                        call["function"]["name"] = name.as_str().into();
                    }
                    delta["tool_calls"] = json!([call]);
                }
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
    /// The tool that was called, and with what.
    call: Option<(String, String)>,
    chosen: Vec<Chosen>,
    reason: Option<&'static str>,
}

impl Whole {
    pub(crate) fn add(wholes: &mut [Self], piece: Piece) {
        let whole = &mut wholes[piece.choice];
        whole.text += &piece.text;
        if let Some(name) = piece.name {
            whole.call = Some((name, String::new()));
        }
        if let Some((_, arguments)) = &mut whole.call {
            *arguments += &piece.arguments;
        }
        whole.chosen.extend(piece.chosen);
        whole.reason = piece.reason.or(whole.reason);
    }

    pub(crate) fn json(self, index: usize, head: &Head) -> Value {
        let Self { text, call, chosen, reason } = self;
        let logprobs = head.logprobs(&chosen, 0);
        match head.kind {
            Kind::Chat => {
                let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
                if let Some((name, arguments)) = call {
                    if text.is_empty() {
                        message["content"] = Value::Null;
                    }
                    message["tool_calls"] = json!([{
                        "id": head.call_id(index),
                        "type": "function",
                        "function": { "name": name, "arguments": arguments },
                    }]);
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
