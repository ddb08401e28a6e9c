//! The engine's thread: takes what clients ask for between two steps, and hands out what each step
//! brings. It waits for nobody: who doesn't read loses their answer, not the others' time.

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

/// What the network tells the engine.
pub(crate) enum Command {
    /// Answer these requests of one client, which differ in prompt and seed alone.
    Submit { client: Client, requests: Vec<Request>, form: Option<Form>, extras: Extras },
    /// Nobody waits for this any more.
    Cancel(u64),
    /// End what is still open.
    End,
    /// Show the batch as it is: somebody begins to look.
    Show,
}

/// A client that waits for one answer or several.
pub(crate) struct Client {
    /// Names it, and is never used twice.
    pub(crate) ticket: u64,
    /// What the client calls its user.
    pub(crate) user: Option<String>,
    /// Where answers go. A queue that is full ends them.
    pub(crate) replies: channel::Sender<Reply>,
    /// Why the queue was closed before all answers were whole.
    pub(crate) cut: Arc<OnceLock<Cut>>,
    /// When its request came.
    pub(crate) came: Instant,
    /// Its places in the queue, free once its answers are.
    pub(crate) _places: OwnedSemaphorePermit,
    /// The engine's numbers of its answers that are not whole.
    pub(crate) ids: Vec<RequestId>,
}

/// Part of the `choice`-th answer.
pub(crate) enum Reply {
    /// A token, and the text that is certain with it.
    Token { choice: usize, text: String, chosen: Option<Chosen> },
    /// Nothing more comes but the text that was held back.
    Finished { choice: usize, text: String, reason: FinishReason },
}

/// Why an answer ends in the middle.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    /// It cannot be computed.
    Refused(String),
    /// Its client read too slowly.
    Slow,
    /// The server is told to end.
    Ending,
    /// Its logits were NaN or infinite.
    NotFinite,
    /// The engine failed.
    Failed(String),
}

/// An answer that is not whole.
struct Open {
    ticket: u64,
    choice: usize,
    text: Box<dyn Text>,
    /// When its last token came, or the request.
    last: Instant,
    first: bool,
}

type Texts = Box<dyn Fn() -> Vec<Vec<u8>> + Send>;

/// Runs the engine for its clients, on the thread that owns both.
pub(crate) struct EngineLoop {
    batch: Box<dyn Batch>,
    tokenizer: Arc<Tokenizer>,
    text: fn() -> Box<dyn Text>,
    /// What tokens mean, until the engine has been told.
    texts: Option<Texts>,
    metrics: Arc<Metrics>,
    live: Live,
    open: HashMap<u64, Open>,
    clients: HashMap<u64, Client>,
    /// Whether the engine still has what nobody waits for.
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

    /// Serves until nobody can send commands any more.
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

    /// Tells everybody why nothing more comes.
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
                    self.open.insert(id, Open { ticket, choice, text, last: came, first: true });
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

    /// Ends all that is open of a client; one that is gone already is no error.
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
        // A step may bring several tokens of one answer, where some were guessed right.
        let mut chosen: HashMap<u64, VecDeque<Chosen>> = HashMap::new();
        for (id, one) in self.batch.take_chosen() {
            chosen.entry(id).or_default().push_back(one);
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
        // What was cancelled in the same step says nothing to anybody.
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
        let (ticket, choice) = (open.ticket, open.choice);
        self.metrics.over(Ended::Done);
        if let Some(client) = self.clients.get_mut(&ticket) {
            client.ids.retain(|&other| other != id);
        }
        self.send(ticket, Reply::Finished { choice, text, reason });
        if self.clients.get(&ticket).is_some_and(|client| client.ids.is_empty()) {
            self.clients.remove(&ticket);
        }
    }

    /// Without waiting.
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
