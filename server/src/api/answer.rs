//! Formats answers as JSON, streamed or complete.

use std::{
    mem,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use tiny_llm_formats::{FinishReason, request::Chosen, text::Tokenizer};

use super::{
    calls::{Finder, Part},
    holdback::Holdback,
    kind::Kind,
    logprobs::logprobs,
    request::ApiRequest,
};
use crate::engine::Reply;

/// The data that a response and all its chunks share.
pub(crate) struct Head {
    kind: Kind,
    id: String,
    created: u64,
    model: String,
    /// Whether the client wants log-probabilities.
    logprobs: bool,
    /// Whether an answer may call a tool.
    calls: bool,
    tokenizer: Arc<Tokenizer>,
}

/// One answer: the parts that have been received but not sent yet. Without streaming, these are the
/// whole answer.
#[derive(Default)]
struct Choice {
    /// Holds back text that may be the beginning of a stop text.
    holdback: Holdback,
    /// Finds tool calls in the text, if the answer may contain any.
    finder: Option<Finder>,
    text: String,
    calls: Vec<Call>,
    /// Number of tool calls so far, including those already sent.
    called: usize,
    /// Number of characters of text in the chunks so far.
    letters: usize,
    /// Log-probabilities of the tokens that no chunk has contained yet. Empty if the client does
    /// not want log-probabilities.
    chosen: Vec<Chosen>,
    reason: Option<&'static str>,
}

/// The unsent part of a tool call.
struct Call {
    /// Index of the call in its answer.
    index: usize,
    /// Name of the tool. `None` if an earlier chunk has sent it.
    name: Option<String>,
    /// The unsent part of the arguments.
    arguments: String,
}

/// The answers to a request, as they arrive from the engine.
pub(crate) struct Answers {
    pub(crate) head: Head,
    choices: Vec<Choice>,
    prompt_tokens: usize,
    /// Number of prompt tokens that were found in the cache.
    cached_tokens: usize,
    /// Number of answers to each prompt.
    n: usize,
    new_tokens: usize,
}

impl Answers {
    /// Creates empty answers to `request`, which has `prompt_tokens` prompt tokens in total.
    pub(crate) fn new(
        request: &ApiRequest,
        ticket: u64,
        prompt_tokens: usize,
        model: &str,
        tokenizer: Arc<Tokenizer>,
    ) -> Self {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let head = Head {
            kind: request.kind,
            // Includes the start time, so that answers of different servers have different ids.
            id: format!("{}-{:x}{ticket:08x}", request.kind.prefix(), created),
            created,
            model: model.to_owned(),
            logprobs: request.extras.logprobs.is_some(),
            calls: request.calls.is_some(),
            tokenizer,
        };
        let choice = || Choice {
            holdback: Holdback::new(request.stop.clone()),
            finder: request.calls.clone(),
            ..Choice::default()
        };
        let choices = (0..request.answers()).map(|_| choice()).collect();
        let n = request.n;
        Self { head, choices, prompt_tokens, cached_tokens: 0, n, new_tokens: 0 }
    }

    /// Adds a reply to its answer. Returns the index of that answer.
    pub(crate) fn receive(&mut self, reply: Reply) -> usize {
        let (i, text, reason) = match reply {
            Reply::Token { choice: i, text, chosen } => {
                self.new_tokens += 1;
                let choice = &mut self.choices[i];
                choice.chosen.extend(chosen);
                (i, choice.holdback.push(&text), None)
            }
            Reply::Finished { choice: i, text, reason, cached } => {
                // All answers to a prompt share its cached tokens, which count once.
                self.cached_tokens += if i % self.n == 0 { cached } else { 0 };
                let holdback = &mut self.choices[i].holdback;
                (i, holdback.push(&text) + &holdback.finish(), Some(word(reason)))
            }
        };
        let choice = &mut self.choices[i];
        choice.extend(text, reason.is_some());
        // A call is always complete, even if the token limit ended the answer.
        choice.reason = reason.map(|reason| if choice.called > 0 { "tool_calls" } else { reason });
        i
    }

    /// Adds a reply to its answer. Returns an entry for a chunk's `choices` with everything that
    /// may now be sent to a streaming client, or `None` if there is nothing to send.
    pub(crate) fn chunk(&mut self, reply: Reply) -> Option<Value> {
        let i = self.receive(reply);
        self.head.chunk(i, &mut self.choices[i])
    }

    /// Returns the complete response.
    pub(crate) fn whole(&self) -> Value {
        let choices = self.choices.iter().enumerate();
        let choices = choices.map(|(i, choice)| self.head.whole(i, choice)).collect();
        let mut object = self.head.object(false, choices);
        object["usage"] = self.usage();
        object
    }

    /// Returns whether all answers are complete.
    pub(crate) fn are_whole(&self) -> bool {
        self.choices.iter().all(|choice| choice.reason.is_some())
    }

    /// Returns the number of answers to the request.
    pub(crate) fn len(&self) -> usize {
        self.choices.len()
    }

    /// Returns the request's token counts, as the response's field `usage`.
    pub(crate) fn usage(&self) -> Value {
        json!({
            "prompt_tokens": self.prompt_tokens,
            "prompt_tokens_details": { "cached_tokens": self.cached_tokens },
            "completion_tokens": self.new_tokens,
            "total_tokens": self.prompt_tokens + self.new_tokens,
        })
    }
}

impl Choice {
    /// Adds new text, divided into content and parts of tool calls. `last` marks the end.
    fn extend(&mut self, text: String, last: bool) {
        let Some(finder) = &mut self.finder else {
            self.text += &text;
            return;
        };
        let mut parts = finder.push(&text);
        if last {
            parts.extend(finder.finish());
        }
        for part in parts {
            match part {
                Part::Content(more) => self.text += &more,
                Part::Name(name) => {
                    let arguments = String::new();
                    self.calls.push(Call { index: self.called, name: Some(name), arguments });
                    self.called += 1;
                }
                Part::Arguments(arguments) => match self.calls.last_mut() {
                    Some(call) => call.arguments += &arguments,
                    None => self.calls.push(Call { index: self.called - 1, name: None, arguments }),
                },
            }
        }
    }
}

impl Head {
    /// Returns the id of call `index` in answer `choice`. A client sends this id with the call's
    /// result.
    fn call_id(&self, choice: usize, index: usize) -> String {
        let own = self.id.split_once('-').map_or("", |(_, own)| own);
        format!("call_{own}{choice:02x}{index:02x}")
    }

    /// Returns the JSON object of a chunk, or of a complete response if `stream` is false.
    pub(crate) fn object(&self, stream: bool, choices: Vec<Value>) -> Value {
        json!({
            "id": self.id,
            "object": self.kind.object(stream),
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    /// Returns the entry for `choices` with which a streamed chat answer begins. Returns `None` for
    /// a completion.
    pub(crate) fn opening(&self, choice: usize) -> Option<Value> {
        let content = if self.calls { Value::Null } else { "".into() };
        let delta = json!({ "role": "assistant", "content": content });
        (self.kind == Kind::Chat).then(
            || json!({ "index": choice, "delta": delta, "logprobs": null, "finish_reason": null }),
        )
    }

    /// Returns the unsent part of an answer as an entry for a chunk's `choices`, or `None` if there
    /// is nothing to send.
    fn chunk(&self, index: usize, choice: &mut Choice) -> Option<Value> {
        let Choice { text, calls, chosen, reason, .. } = choice;
        if text.is_empty() && calls.is_empty() && reason.is_none() {
            return None;
        }
        let logprobs = self.logprobs(chosen, choice.letters);
        choice.letters += text.chars().count();
        chosen.clear();
        let (text, calls) = (mem::take(text), mem::take(calls));
        Some(match self.kind {
            Kind::Chat => {
                let mut delta = json!({});
                if !text.is_empty() {
                    delta["content"] = text.into();
                }
                if !calls.is_empty() {
                    let calls = calls.iter().map(|call| self.call(index, call));
                    delta["tool_calls"] = calls.collect();
                }
                json!({ "index": index, "delta": delta, "logprobs": logprobs, "finish_reason": reason })
            }
            Kind::Completion => json!({
                "index": index, "text": text, "logprobs": logprobs, "finish_reason": reason,
            }),
        })
    }

    /// Returns a complete answer as an entry for the response's `choices`.
    fn whole(&self, index: usize, choice: &Choice) -> Value {
        let Choice { text, calls, chosen, reason, .. } = choice;
        let logprobs = self.logprobs(chosen, 0);
        match self.kind {
            Kind::Chat => {
                let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
                if !calls.is_empty() {
                    if text.is_empty() {
                        message["content"] = Value::Null;
                    }
                    let call = |call: &Call| {
                        json!({
                            "id": self.call_id(index, call.index),
                            "type": "function",
                            "function": { "name": call.name, "arguments": call.arguments },
                        })
                    };
                    message["tool_calls"] = calls.iter().map(call).collect();
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

    /// Returns the unsent part of a tool call as an entry for a chunk's `tool_calls`.
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

fn word(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Length | FinishReason::ContextFull => "length",
        // A request is cancelled only after its client has left or been cut off, so no client reads
        // this.
        FinishReason::Stop | FinishReason::Interrupted => "stop",
        // The client gets an error instead.
        FinishReason::NotFinite => "error",
    }
}
