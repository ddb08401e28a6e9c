//! A loaded model with its tokenizer, and an answer that is being generated.

use std::{
    ops::ControlFlow,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use super::{
    Batch, BatchOptions, Draft, Form, Model, Solution, Text, form,
    interrupt::Caught,
    options::{ModelOption, SamplingOptions},
    speed::{Speed, Stopwatch},
    template::Template,
};
use tiny_llm_formats::{
    FinishReason,
    gguf::Metadata,
    request::{Request, check_prompt},
    text::{ChatTemplate, Tokenizer},
};

/// Tokens that end a text or a turn in the supported model families. A GGUF file can name three of
/// them, but most files name only one.
const ENDS: [&str; 5] =
    ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>"];

/// A loaded model with its tokenizer and its stop tokens.
pub(super) struct Session {
    pub(super) model: Box<dyn Model>,
    pub(super) tokenizer: Tokenizer,
    stop_tokens: Vec<u32>,
    pub(super) load: Duration,
    text: fn() -> Box<dyn Text>,
}

/// The result of a generation.
pub(super) struct Generated {
    pub(super) text: String,
    pub(super) finish: FinishReason,
    pub(super) speed: Speed,
    /// Whether Ctrl-C ended the generation.
    pub(super) interrupted: bool,
}

/// An answer in progress: decodes and times its tokens.
pub(super) struct Answer<'a> {
    tokenizer: &'a Tokenizer,
    stream: Box<dyn Text>,
    text: String,
    stopwatch: Stopwatch,
    caught: Caught,
}

impl Answer<'_> {
    /// Decodes the next token and calls `on_text` with its text, which may be empty. Returns what
    /// `on_text` returns. After Ctrl-C, returns `Break` and doesn't call `on_text`.
    pub(super) fn token(
        &mut self,
        token: u32,
        on_text: impl FnOnce(&str) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.stopwatch.token();
        let piece = self.stream.push(&self.tokenizer.token_bytes(token));
        self.text += &piece;
        if self.caught.requested() { ControlFlow::Break(()) } else { on_text(&piece) }
    }

    /// Ends the answer. Calls `on_text` with the remaining text.
    pub(super) fn end(
        mut self,
        finish: FinishReason,
        on_text: impl FnOnce(&str) -> ControlFlow<()>,
    ) -> Generated {
        let speed = self.stopwatch.stop();
        let rest = self.stream.finish();
        self.text += &rest;
        // The return value is ignored, because the answer has ended.
        let _ = on_text(&rest);
        let Self { text, caught, .. } = self;
        Generated { text, finish, speed, interrupted: caught.requested() }
    }
}

/// Opens the tokenizer of a model folder or a GGUF file.
pub(super) fn tokenizer(solution: &Solution, model: &Path) -> Result<Tokenizer> {
    if model.is_file() {
        Tokenizer::from_gguf(&(solution.inspect)(model)?.0)
    } else {
        Tokenizer::from_folder(model)
    }
}

impl Session {
    pub(super) fn open(solution: &Solution, model: &ModelOption) -> Result<Self> {
        Ok(Self::load(solution, model)?.0)
    }

    /// Opens a session, and returns it with the model's chat template, if there is one.
    pub(super) fn open_for_chat(
        solution: &Solution,
        model: &ModelOption,
    ) -> Result<(Self, Option<ChatTemplate>)> {
        let (session, metadata) = Self::load(solution, model)?;
        let template = match &metadata {
            Some(metadata) => ChatTemplate::from_gguf(metadata)?,
            None => ChatTemplate::from_folder(&model.path())?,
        };
        Ok((session, template))
    }

    /// Opens a session. For a GGUF file, also returns the file's metadata. The caller should drop
    /// it soon, because it is large.
    fn load(solution: &Solution, model: &ModelOption) -> Result<(Self, Option<Metadata>)> {
        let path = model.path();
        // A folder's tokenizer is opened first, so that a missing one is reported before the model
        // is loaded.
        let own = if path.is_file() { None } else { Some(Tokenizer::from_folder(&path)?) };
        let (mut loaded, load) = timed(solution, model)?;
        let mut stop_tokens = loaded.config().eos_token_ids.clone();
        let (tokenizer, metadata) = if let Some(tokenizer) = own {
            (tokenizer, None)
        } else {
            let metadata = loaded.take_metadata().context("found no metadata in the GGUF file")?;
            let tokenizer = Tokenizer::from_gguf(&metadata)?;
            for end in ENDS {
                // The text is a single token only if the vocabulary has that token.
                if let [id] = tokenizer.encode(end)?[..] {
                    stop_tokens.push(id);
                }
            }
            (tokenizer, Some(metadata))
        };
        if let Some(draft) = model.draft_model() {
            check_draft(solution, draft, &path, &tokenizer, loaded.config().vocab_size)?;
        }
        let session = Self { model: loaded, tokenizer, stop_tokens, load, text: solution.text };
        Ok((session, metadata))
    }

    /// If `form` is a constraint, passes the texts of all tokens to the model, which needs them to
    /// apply it. Returns `form` unchanged.
    pub(super) fn prepare(&mut self, form: Option<Form>) -> Option<Form> {
        if form.is_some() {
            let texts = form::texts(&self.tokenizer, self.model.config().vocab_size);
            self.model.use_vocabulary(texts);
        }
        form
    }

    /// Begins an answer to `prompt`. Returns the model, which generates the answer's tokens, and an
    /// [`Answer`], which decodes them.
    ///
    /// # Errors
    /// If the model cannot run on the prompt.
    pub(super) fn answer(&mut self, prompt: &[u32]) -> Result<(&mut dyn Model, Answer<'_>)> {
        check(self.model.as_ref(), prompt)?;
        let answer = Answer {
            tokenizer: &self.tokenizer,
            stream: (self.text)(),
            text: String::new(),
            stopwatch: Stopwatch::start(prompt.len()),
            caught: Caught::new(),
        };
        Ok((self.model.as_mut(), answer))
    }

    /// Returns the request for at most `max_new_tokens` tokens after `prompt`.
    pub(super) fn request(
        &self,
        prompt: Vec<u32>,
        max_new_tokens: usize,
        options: &SamplingOptions,
    ) -> Request {
        Request {
            prompt,
            max_new_tokens,
            stop_tokens: self.stop_tokens(),
            stop_texts: Vec::new(),
            sampling: options.sampling(),
            seed: options.seed,
        }
    }

    /// Returns the tokens that end a text.
    pub(super) fn stop_tokens(&self) -> Vec<u32> {
        self.stop_tokens.clone()
    }

    /// Describes why a generation ended.
    pub(super) fn describe(&self, generated: &Generated) -> String {
        match generated.finish {
            FinishReason::Stop => "the model ended its text".to_owned(),
            FinishReason::Length => {
                let n = generated.speed.new_tokens;
                format!("the limit of {n} new token{} is reached", if n == 1 { "" } else { "s" })
            }
            FinishReason::ContextFull => {
                format!("the context of {} tokens is full", self.model.config().max_positions)
            }
            FinishReason::Interrupted if generated.interrupted => "interrupted".to_owned(),
            FinishReason::Interrupted => "standard output was closed".to_owned(),
            FinishReason::NotFinite => "the logits were NaN or infinite".to_owned(),
        }
    }
}

/// An engine that runs batches, with what its requests need.
pub(super) struct OpenedBatch {
    pub(super) batch: Box<dyn Batch>,
    pub(super) tokenizer: Arc<Tokenizer>,
    /// The chat template, or the reason why there is none.
    pub(super) template: Result<Template>,
    pub(super) stop_tokens: Vec<u32>,
    pub(super) described: String,
    pub(super) context: usize,
    pub(super) vocabulary: usize,
}

impl OpenedBatch {
    pub(super) fn open(
        solution: &Solution,
        model: &ModelOption,
        options: BatchOptions,
    ) -> Result<Self> {
        let path = model.path();
        let (session, template) = Session::open_for_chat(solution, model)?;
        let Session { model, tokenizer, stop_tokens, .. } = session;
        let (described, config) = (model.about().described, model.config());
        let (context, vocabulary) = (config.max_positions, config.vocab_size);
        if let Some(Draft::Model(draft)) = &options.draft {
            check_draft(solution, draft, &path, &tokenizer, vocabulary)?;
        }
        let template = Template::of(template, solution.chatml, &path, &tokenizer);
        let tokenizer = Arc::new(tokenizer);
        let bytes = Arc::clone(&tokenizer);
        let batch = model.into_batch(options, Box::new(move |token| bytes.token_bytes(token)))?;
        Ok(Self { batch, tokenizer, template, stop_tokens, described, context, vocabulary })
    }
}

/// Checks that the draft model at `path` has the same vocabulary as the main model at `model`.
/// `own` is the main model's tokenizer, and `vocabulary` is its vocabulary size.
pub(super) fn check_draft(
    solution: &Solution,
    path: &Path,
    model: &Path,
    own: &Tokenizer,
    vocabulary: usize,
) -> Result<()> {
    let other = tokenizer(solution, path)?;
    for id in 0..vocabulary as u32 {
        let (found, expected) = (other.token_bytes(id), own.token_bytes(id));
        ensure!(
            found == expected,
            "{}: token {id}: found {:?}, expected {:?} as in {}; a draft model needs the same \
             vocabulary",
            path.display(),
            String::from_utf8_lossy(&found),
            String::from_utf8_lossy(&expected),
            model.display()
        );
    }
    Ok(())
}

/// Checks that `model` can run on `tokens`.
///
/// # Errors
/// If there are no tokens, there are more than the context allows, or one is not in the vocabulary.
pub(super) fn check(model: &dyn Model, tokens: &[u32]) -> Result<()> {
    let config = model.config();
    check_prompt(tokens, config.max_positions, config.vocab_size)
}

fn timed(solution: &Solution, model: &ModelOption) -> Result<(Box<dyn Model>, Duration)> {
    let start = Instant::now();
    Ok((model.load(solution)?, start.elapsed()))
}
