//! A loaded model with its tokenizer, and text that appears as it is generated.

use std::{
    ops::ControlFlow,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use super::{
    Engine, Form, form,
    interrupt::Caught,
    options::ModelOption,
    output::Output,
    speed::{Speed, Stopwatch},
};
use tiny_llm_formats::{
    FinishReason,
    gguf::Metadata,
    request::Request,
    text::{ChatTemplate, Tokenizer},
};

/// Tokens that end a text or a turn in the families that this engine runs. A GGUF file has room for
/// the ids of three, and most name one.
const ENDS: [&str; 5] =
    ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>"];

/// What `generate`, `chat` and `score` work with.
pub(super) struct Session<E> {
    pub(super) engine: E,
    pub(super) tokenizer: Tokenizer,
    /// Each of these ends a text.
    stop_tokens: Vec<u32>,
    /// How long the engine took to load the weights.
    pub(super) load: Duration,
}

/// What came of a generation.
pub(super) struct Generated {
    pub(super) text: String,
    pub(super) finish: FinishReason,
    pub(super) speed: Speed,
    /// Whether Ctrl-C ended it.
    pub(super) interrupted: bool,
}

impl<E: Engine> Session<E> {
    pub(super) fn open(model: &ModelOption) -> Result<Self> {
        Ok(Self::load(model)?.0)
    }

    /// The same with the model's chat template, if it has one.
    pub(super) fn open_for_chat(model: &ModelOption) -> Result<(Self, Option<ChatTemplate>)> {
        let (session, metadata) = Self::load(model)?;
        let template = match &metadata {
            Some(metadata) => ChatTemplate::from_gguf(metadata)?,
            None => ChatTemplate::from_folder(&model.path())?,
        };
        Ok((session, template))
    }

    /// A GGUF file's metadata comes along: whoever has taken from it what it needs lets it go.
    fn load(model: &ModelOption) -> Result<(Self, Option<Metadata>)> {
        let path = model.path();
        if path.is_file() {
            let (mut engine, load) = timed(model)?;
            let metadata: Metadata =
                E::take_metadata(&mut engine).context("a GGUF file has metadata")?;
            let tokenizer = Tokenizer::from_gguf(&metadata)?;
            let mut stop_tokens = engine.config().eos_token_ids.clone();
            for end in ENDS {
                // A text that is one token as it stands.
                if let [id] = tokenizer.encode(end)?[..] {
                    stop_tokens.push(id);
                }
            }
            if let Some(draft) = model.draft_model() {
                check_draft::<E>(draft, &path, &tokenizer, engine.config().vocab_size)?;
            }
            return Ok((Self { engine, tokenizer, stop_tokens, load }, Some(metadata)));
        }
        ensure!(
            path.extension().is_none_or(|name| name != "gguf") || path.exists(),
            "{}: there is no such file",
            path.display()
        );
        // The tokenizer first: if it is missing, that is soon said.
        let tokenizer = Tokenizer::from_folder(&path)?;
        let (engine, load) = timed::<E>(model)?;
        if let Some(draft) = model.draft_model() {
            check_draft::<E>(draft, &path, &tokenizer, engine.config().vocab_size)?;
        }
        let stop_tokens = engine.config().eos_token_ids.clone();
        Ok((Self { engine, tokenizer, stop_tokens, load }, None))
    }

    /// Tells the engine what its tokens mean, if an answer is to have a form; returns the form.
    pub(super) fn prepare(&mut self, form: Option<Form>) -> Option<Form> {
        if form.is_some() {
            let texts = form::texts(&self.tokenizer, self.engine.config().vocab_size);
            self.engine.use_vocabulary(texts);
        }
        form
    }

    /// Generates and writes the text as it comes. Ends early if nobody reads it any more.
    pub(super) fn print(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        output: &mut Output,
    ) -> Result<Generated> {
        self.stream(request, form, |text| {
            if output.write(text) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    }

    /// Generates; `on_text` receives each piece of text, which may be empty, and may ask to end.
    pub(super) fn stream(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        mut on_text: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Generated> {
        self.engine.check(&request.prompt)?;
        let caught = Caught::new();
        let mut stopwatch = Stopwatch::start(request.prompt.len());
        let mut stream = E::TextStream::default();
        let mut text = String::new();
        let finish = self.engine.generate(request, form, &mut |token| {
            stopwatch.token();
            let piece = E::push(&mut stream, &self.tokenizer.token_bytes(token));
            text += &piece;
            if caught.requested() { ControlFlow::Break(()) } else { on_text(&piece) }
        })?;
        let speed = stopwatch.stop();
        let rest = E::finish(&mut stream);
        text += &rest;
        // Nothing is left to be ended.
        let _ = on_text(&rest);
        Ok(Generated { text, finish, speed, interrupted: caught.requested() })
    }

    /// The engine, the tokenizer, and where a text ends.
    pub(super) fn into_parts(self) -> (E, Tokenizer, Vec<u32>) {
        (self.engine, self.tokenizer, self.stop_tokens)
    }

    /// Where a text ends, by the checkpoint.
    pub(super) fn stop_tokens(&self) -> Vec<u32> {
        self.stop_tokens.clone()
    }

    /// The end of a generation in words.
    pub(super) fn describe(&self, generated: &Generated) -> String {
        match generated.finish {
            FinishReason::Stop => "the model ended its text".to_owned(),
            FinishReason::Length => {
                format!("{} new tokens were asked for", generated.speed.new_tokens)
            }
            FinishReason::ContextFull => {
                format!("the context of {} tokens is full", self.engine.config().max_positions)
            }
            FinishReason::Interrupted if generated.interrupted => "interrupted".to_owned(),
            FinishReason::Interrupted => "standard output was closed".to_owned(),
        }
    }
}

/// Whether the model that proposes tokens means by each of them what the model means.
pub(super) fn check_draft<E: Engine>(
    path: &Path,
    model: &Path,
    own: &Tokenizer,
    vocabulary: usize,
) -> Result<()> {
    let other = if path.is_file() {
        Tokenizer::from_gguf(&E::inspect(path)?.0)?
    } else {
        Tokenizer::from_folder(path)?
    };
    for id in 0..vocabulary as u32 {
        let (found, expected) = (other.token_bytes(id), own.token_bytes(id));
        ensure!(
            found == expected,
            "{}: found the text {:?} for token {id}, expected {:?}, as {} has it: a draft model \
             needs the same vocabulary",
            path.display(),
            String::from_utf8_lossy(&found),
            String::from_utf8_lossy(&expected),
            model.display()
        );
    }
    Ok(())
}

fn timed<E: Engine>(model: &ModelOption) -> Result<(E, Duration)> {
    let start = Instant::now();
    Ok((model.load()?, start.elapsed()))
}
