//! The engine's thread. Between two steps it takes commands from clients, and after each step it
//! sends the new tokens. It never waits for a client. A client that stops reading loses its answer.
//! Other clients are not delayed.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, OnceLock, atomic::Ordering::Relaxed, mpsc},
    time::Instant,
};

use anyhow::Result;
use tiny_llm_cli::{Batch, Form, Opened, Text};
use tiny_llm_formats::{
    FinishReason,
    request::{Chosen, Event, Extras, Request, RequestId},
    text::Tokenizer,
};
use tokio::sync::{OwnedSemaphorePermit, mpsc as channel};

use crate::{
    live::Live,
    metrics::{Ended, Metrics},
};

/// A command from the network to the engine.
pub(crate) enum Command {
    /// Compute `requests`, which all belong to `client`. They differ only in prompt, seed and token
    /// limit.
    Submit { client: Client, requests: Vec<Request>, form: Option<Form>, extras: Extras },
    /// Cancel all answers of the client that has this ticket.
    Cancel(u64),
    /// Cancel all answers.
    End,
    /// Send the current view of the batch, because a viewer has joined.
    Show,
}

/// A client that waits for one or more answers.
pub(crate) struct Client {
    /// Unique number of the client's request.
    pub(crate) ticket: u64,
    /// The request's `user` field.
    pub(crate) user: Option<String>,
    /// Queue for replies. If it is full, the answers are cut off.
    pub(crate) replies: channel::Sender<Reply>,
    /// Why `replies` was closed before all answers were complete.
    pub(crate) cut: Arc<OnceLock<Cut>>,
    /// Time at which the request was completely parsed. Its prompts were tokenized later.
    pub(crate) came: Instant,
    /// The permits of the request's answers. They are released when this struct is dropped.
    pub(crate) _places: OwnedSemaphorePermit,
    /// The engine's ids of the request's unfinished answers.
    pub(crate) ids: Vec<RequestId>,
}

/// A part of the answer with index `choice`.
pub(crate) enum Reply {
    /// A token. `text` is new text that later tokens can no longer change.
    Token { choice: usize, text: String, chosen: Option<Chosen> },
    /// The end of the answer. `text` is the text that was held back until now. `cached` is the
    /// number of prompt tokens that were found in the cache.
    Finished { choice: usize, text: String, reason: FinishReason, cached: usize },
}

/// Why an answer is cut off midway.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    /// The engine refused the request.
    Refused(String),
    /// The client read too slowly.
    Slow,
    /// The server is shutting down.
    Ending,
    /// The logits of one of the client's answers were NaN or infinite.
    NotFinite,
    /// The engine failed.
    Failed(String),
}

/// An unfinished answer.
struct Open {
    ticket: u64,
    choice: usize,
    text: Box<dyn Text>,
    /// Time of the answer's latest token. Before the first token, the same as [`Client::came`].
    last: Instant,
    first: bool,
    /// Number of prompt tokens that were in the cache when the answer first got a batch slot. After
    /// a preemption, the answer's own earlier pages are also in the cache, but don't count.
    cached: Option<usize>,
}

type Texts = Box<dyn Fn() -> Vec<Vec<u8>> + Send>;

/// Runs the engine for its clients, on the thread that owns the engine.
pub(crate) struct EngineLoop {
    batch: Box<dyn Batch>,
    tokenizer: Arc<Tokenizer>,
    text: fn() -> Box<dyn Text>,
    /// Returns the text of each token. `None` after the engine has received these texts.
    texts: Option<Texts>,
    metrics: Arc<Metrics>,
    live: Live,
    open: HashMap<u64, Open>,
    clients: HashMap<u64, Client>,
    /// Whether cancelled requests are still in the engine.
    cancelled: bool,
}

impl EngineLoop {
    pub(crate) fn new(opened: Opened, metrics: Arc<Metrics>, live: Live) -> Self {
        let Opened { batch, tokenizer, text, texts, .. } = opened;
        Self {
            batch,
            tokenizer,
            text,
            texts: Some(texts),
            metrics,
            live,
            open: HashMap::new(),
            clients: HashMap::new(),
            cancelled: false,
        }
    }

    /// Runs until all senders of `commands` have been dropped and all answers are finished.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn run(&mut self, commands: &mpsc::Receiver<Command>) -> Result<()> {
        loop {
            let idle = self.open.is_empty() && !self.cancelled;
            let command = if idle {
                self.show(true);
                commands.recv().map_err(|_| mpsc::TryRecvError::Disconnected)
            } else {
                commands.try_recv()
            };
            match command {
                Ok(command) => self.handle(command),
                Err(mpsc::TryRecvError::Disconnected) if idle => return Ok(()),
                Err(_) => self.step()?,
            }
        }
    }

    /// Cuts off the answers of all clients, for the reason `why`.
    pub(crate) fn cut_all(&mut self, why: &Cut) {
        for ticket in self.clients.keys().copied().collect::<Vec<_>>() {
            self.cut(ticket, Some(why.clone()), Ended::Cut);
        }
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Submit { client, requests, form, extras } => {
                self.submit(client, requests, form.as_ref(), extras);
            }
            Command::Cancel(ticket) => self.cut(ticket, None, Ended::Left),
            Command::End => self.cut_all(&Cut::Ending),
            Command::Show => self.show(true),
        }
    }

    fn submit(
        &mut self,
        client: Client,
        requests: Vec<Request>,
        form: Option<&Form>,
        extras: Extras,
    ) {
        let Client { ticket, came, .. } = client;
        self.clients.insert(ticket, client);
        if form.is_some()
            && let Some(texts) = self.texts.take()
        {
            self.batch.use_vocabulary(texts());
        }
        for (choice, request) in requests.into_iter().enumerate() {
            let prompt = request.prompt.len() as u64;
            match self.batch.submit(request, form, extras) {
                Ok(id) => {
                    self.metrics.tokens[0].fetch_add(prompt, Relaxed);
                    let text = (self.text)();
                    self.open.insert(
                        id,
                        Open { ticket, choice, text, last: came, first: true, cached: None },
                    );
                    let client = self.clients.get_mut(&ticket).expect("it is there");
                    client.ids.push(id);
                }
                Err(error) => {
                    let why = Cut::Refused(format!("{error:#}"));
                    return self.cut(ticket, Some(why), Ended::Cut);
                }
            }
        }
    }

    /// Cuts off all answers of the client with `ticket`, for the reason `why`. The metrics count
    /// them as ended by `how`. Does nothing if the client is gone.
    fn cut(&mut self, ticket: u64, why: Option<Cut>, how: Ended) {
        let Some(client) = self.clients.remove(&ticket) else { return };
        if let Some(why) = why {
            let _ = client.cut.set(why);
        }
        for id in client.ids {
            self.open.remove(&id);
            self.cancelled |= self.batch.cancel(id);
            self.metrics.over(how);
        }
    }

    fn step(&mut self) -> Result<()> {
        let (before, mut events) = (self.batch.counts(), Vec::new());
        self.cancelled = false;
        self.batch.step(&mut |event| events.push(event))?;
        let (now, counts) = (Instant::now(), self.batch.counts());
        // A step may return several tokens of one answer if drafts were accepted.
        let mut chosen: HashMap<u64, VecDeque<Chosen>> = HashMap::new();
        for (id, one) in self.batch.take_chosen() {
            chosen.entry(id).or_default().push_back(one);
        }
        for (id, found) in self.batch.take_found() {
            if let Some(open) = self.open.get_mut(&id) {
                open.cached.get_or_insert(found);
            }
        }
        if counts.steps > before.steps {
            self.metrics.rows.note((counts.rows - before.rows) as f64);
        }
        self.metrics.engine(counts);
        for event in events {
            match event {
                Event::Token { id, token } => {
                    let chosen = chosen.get_mut(&id).and_then(VecDeque::pop_front);
                    self.token(id, token, chosen, now);
                }
                Event::Finished { id, reason } => self.finished(id, reason),
            }
        }
        self.show(false);
        Ok(())
    }

    fn token(&mut self, id: u64, token: u32, chosen: Option<Chosen>, now: Instant) {
        // Events of a request cancelled in the same step are dropped.
        let Some(open) = self.open.get_mut(&id) else { return };
        let waited = now.saturating_duration_since(open.last);
        if open.first { &self.metrics.first_token } else { &self.metrics.between }.time(waited);
        (open.last, open.first) = (now, false);
        self.metrics.tokens[1].fetch_add(1, Relaxed);
        let text = open.text.push(&self.tokenizer.token_bytes(token));
        let (ticket, choice) = (open.ticket, open.choice);
        self.send(ticket, Reply::Token { choice, text, chosen });
    }

    fn finished(&mut self, id: u64, reason: FinishReason) {
        let Some(mut open) = self.open.remove(&id) else { return };
        if reason == FinishReason::NotFinite {
            return self.cut(open.ticket, Some(Cut::NotFinite), Ended::NotFinite);
        }
        let text = open.text.finish();
        let (ticket, choice, cached) = (open.ticket, open.choice, open.cached.unwrap_or(0));
        self.metrics.over(Ended::Done);
        if let Some(client) = self.clients.get_mut(&ticket) {
            client.ids.retain(|&other| other != id);
        }
        self.send(ticket, Reply::Finished { choice, text, reason, cached });
        if self.clients.get(&ticket).is_some_and(|client| client.ids.is_empty()) {
            self.clients.remove(&ticket);
        }
    }

    /// Sends a reply to a client without waiting. If its queue is full, cuts off its answers.
    fn send(&mut self, ticket: u64, reply: Reply) {
        let Some(client) = self.clients.get(&ticket) else { return };
        match client.replies.try_send(reply) {
            Ok(()) => {}
            Err(channel::error::TrySendError::Full(_)) => {
                self.cut(ticket, Some(Cut::Slow), Ended::Slow);
            }
            Err(channel::error::TrySendError::Closed(_)) => self.cut(ticket, None, Ended::Left),
        }
    }

    fn show(&mut self, last: bool) {
        let waiting = self.batch.waiting();
        self.metrics.now[0].store((self.open.len() - waiting.min(self.open.len())) as u64, Relaxed);
        self.metrics.now[1].store(waiting as u64, Relaxed);
        let who = |id: u64| {
            let open = self.open.get(&id)?;
            let user = self.clients.get(&open.ticket)?.user.clone();
            Some((open.ticket, open.choice, user))
        };
        self.live.show(&*self.batch, &self.metrics, &who, last);
    }
}
