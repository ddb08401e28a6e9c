//! State shared by all handlers.

use std::{
    mem,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::anyhow;
use tiny_llm_cli::{Json, Opened, Render, Settings, Style};
use tiny_llm_formats::{
    request::{Request, UnknownToken, check_tokens},
    text::Tokenizer,
};
use tokio::sync::{Semaphore, mpsc as channel, watch};

use crate::{
    api::{
        answer::Answers,
        error::ApiError,
        request::{ApiRequest, Bounds, Prompt},
        stream::Waiting,
    },
    engine::{Client, Command},
    metrics::Metrics,
};
use axum::http::StatusCode;

/// The state that all handlers of requests share.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) tokenizer: Arc<Tokenizer>,
    pub(crate) render: Render,
    pub(crate) style: Style,
    pub(crate) stop_tokens: Vec<u32>,
    pub(crate) context: usize,
    pub(crate) vocabulary: usize,
    pub(crate) described: String,
    /// Time at which the server started, in seconds since 1970.
    pub(crate) created: u64,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) views: watch::Sender<Arc<str>>,
    /// Whether new requests are refused.
    pub(crate) ending: AtomicBool,
    commands: mpsc::Sender<Command>,
    /// A semaphore with a single permit, so that only one long body is processed at a time.
    pub(crate) long_bodies: Arc<Semaphore>,
    /// Size of the longest token in bytes.
    longest_token: usize,
    /// A semaphore with one permit for each answer that may run or wait.
    places: Arc<Semaphore>,
    tickets: AtomicU64,
}

impl App {
    /// Creates the state of a server for `opened`, and takes `render` out of it.
    pub(crate) fn new(
        opened: &mut Opened,
        settings: Settings,
        metrics: Arc<Metrics>,
        views: watch::Sender<Arc<str>>,
        commands: mpsc::Sender<Command>,
    ) -> Self {
        let vocabulary = opened.vocabulary;
        let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let places = Arc::new(Semaphore::new(settings.max_batch + settings.max_queue));
        let bytes = |token| opened.tokenizer.token_bytes(token).len();
        let longest_token = (0..vocabulary as u32).map(bytes).max().unwrap_or(0);
        Self {
            settings,
            tokenizer: Arc::clone(&opened.tokenizer),
            style: opened.style,
            stop_tokens: opened.stop_tokens.clone(),
            context: opened.context,
            vocabulary,
            described: opened.described.clone(),
            render: mem::replace(&mut opened.render, Box::new(|_, _| Err(anyhow!("moved")))),
            created,
            metrics,
            views,
            ending: AtomicBool::new(false),
            commands,
            long_bodies: Arc::new(Semaphore::new(1)),
            longest_token,
            places,
            tickets: AtomicU64::new(1),
        }
    }

    /// Returns the limits that apply to each request.
    pub(crate) fn bounds(&self) -> Bounds {
        let places = self.settings.max_batch + self.settings.max_queue;
        Bounds { choices: self.settings.max_choices.min(places), style: self.style }
    }

    /// Sends a command to the engine. If the engine has stopped, drops the command. A client that
    /// waits for replies then finds its queue closed.
    pub(crate) fn tell(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// Returns a prompt's tokens, however many there are. `tools` are the tools that the model may
    /// call, and `field` is the prompt's field in error messages.
    ///
    /// # Errors
    /// If a text cannot be tokenized, or the chat template refuses the messages.
    pub(crate) fn encode(
        &self,
        prompt: &Prompt,
        tools: &[Json],
        field: &str,
    ) -> Result<Vec<u32>, ApiError> {
        let wrong = |e: anyhow::Error| ApiError::field(field, format!("{field:?}: {e:#}"));
        match prompt {
            Prompt::Text(text) => self.tokenizer.encode_prompt(text).map_err(wrong),
            Prompt::Tokens(ids) => Ok(ids.clone()),
            Prompt::Messages(messages) => (self.render)(messages, tools).map_err(wrong),
        }
    }

    /// Returns a prompt's tokens as [`App::encode`] does. Checks that the engine can compute them.
    ///
    /// # Errors
    /// If [`App::encode`] fails, there are no tokens or too many, or a token is not in the
    /// vocabulary.
    fn tokens(&self, prompt: &Prompt, tools: &[Json], field: &str) -> Result<Vec<u32>, ApiError> {
        let most = self.settings.max_prompt.unwrap_or(self.context).min(self.context);
        let too_long = |found: usize, what: &str, most: &str| {
            let message = format!("{field:?}: found {found} {what}, expected at most {most}");
            let error = ApiError::field(field, message);
            error.with(StatusCode::BAD_REQUEST, "context_length_exceeded")
        };
        // Text that cannot fit is not tokenized at all.
        let (bytes, room) = (text_len(prompt, tools), most.saturating_mul(self.longest_token));
        if bytes > room {
            let most = format!("{room}, the maximum length of {most} tokens");
            return Err(too_long(bytes, "bytes", &most));
        }
        let tokens = self.encode(prompt, tools, field)?;
        let found = tokens.len();
        if found == 0 {
            let message = format!("{field:?}: found no tokens, expected at least one");
            return Err(ApiError::field(field, message));
        }
        if found > most {
            return Err(too_long(found, "tokens", &most.to_string()));
        }
        let known = check_tokens((0..).zip(tokens.iter().copied()), self.vocabulary);
        known.map_err(|UnknownToken { token, vocabulary, .. }| {
            let last = vocabulary - 1;
            let message =
                format!("{field:?}: found the token {token}, expected ids from 0 to {last}");
            ApiError::field(field, message)
        })?;
        Ok(tokens)
    }

    /// Submits a request to the engine. Returns the [`Waiting`] client and its empty [`Answers`].
    ///
    /// # Errors
    /// If a prompt is invalid, the server is shutting down, or the queue has no room for all
    /// answers.
    pub(crate) fn submit(&self, wanted: &ApiRequest) -> Result<(Waiting, Answers), ApiError> {
        let conversation = matches!(wanted.prompts[0], Prompt::Messages(_));
        let field = if conversation { "messages" } else { "prompt" };
        let came = Instant::now();
        let stop_texts = wanted.stop.iter().map(|text| text.clone().into_bytes());
        let stop_texts: Vec<Vec<u8>> = stop_texts.collect();
        let mut requests = Vec::new();
        let mut prompt_tokens = 0;
        for prompt in &wanted.prompts {
            let tokens = self.tokens(prompt, &wanted.tools, field)?;
            prompt_tokens += tokens.len();
            let room = self.context - tokens.len();
            for _ in 0..wanted.n {
                requests.push(Request {
                    prompt: tokens.clone(),
                    max_new_tokens: wanted.max_tokens.unwrap_or(room).min(room),
                    stop_tokens: self.stop_tokens.clone(),
                    stop_texts: stop_texts.clone(),
                    sampling: wanted.sampling.clone(),
                    seed: wanted.seed.wrapping_add(requests.len() as u64),
                });
            }
        }
        if self.ending.load(Relaxed) {
            return Err(ApiError::ending());
        }
        let n = u32::try_from(requests.len()).unwrap_or(u32::MAX);
        let places = Arc::clone(&self.places).try_acquire_many_owned(n);
        let Ok(places) = places else {
            self.metrics.refused[1].fetch_add(1, Relaxed);
            let most = self.settings.max_batch + self.settings.max_queue;
            return Err(ApiError::full(format!(
                "too many answers are running or waiting (limit: {most}); retry later"
            )));
        };
        let ticket = self.tickets.fetch_add(1, Relaxed);
        let cut = Arc::new(OnceLock::new());
        let (replies, receiver) = channel::channel(self.settings.client_queue);
        let waiting = Waiting {
            ticket,
            commands: self.commands.clone(),
            replies: receiver,
            cut: Arc::clone(&cut),
        };
        let user = wanted.user.clone();
        let client = Client { ticket, user, replies, cut, came, _places: places, ids: Vec::new() };
        let (form, extras) = (wanted.form.clone(), wanted.extras);
        self.tell(Command::Submit { client, requests, form, extras });
        let (name, tokenizer) = (&self.settings.name, Arc::clone(&self.tokenizer));
        Ok((waiting, Answers::new(wanted, ticket, prompt_tokens, name, tokenizer)))
    }
}

/// Returns how many bytes of text must be tokenized for `prompt` and the list of `tools`.
fn text_len(prompt: &Prompt, tools: &[Json]) -> usize {
    match prompt {
        Prompt::Text(text) => text.len(),
        Prompt::Tokens(_) => 0,
        Prompt::Messages(messages) => {
            let messages = messages.iter().map(|message| message.content.len());
            messages.chain(tools.iter().map(|tool| tool.to_string().len())).sum()
        }
    }
}
