//! An engine without a model, and a server for it.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    path::Path,
    process::ExitCode,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Result, bail};
use tiny_llm_cli::{
    Batch, BatchCounts, BatchRow, BatchWaits, Form, Opened, PageCounts, PageUse, Settings, Style,
    Text,
};
use tiny_llm_formats::{
    FinishReason,
    request::{Chosen, Event, Extras, Request},
    text::Tokenizer,
};
use tiny_llm_server::Server;

/// Maximum sequence length.
pub(crate) const CONTEXT: usize = 100_000;
/// Number of batch slots of the engine.
pub(crate) const ROWS: usize = 4;
/// Maximum number of waiting requests.
pub(crate) const QUEUE: usize = 6;
/// Number of tokens of prompts for which the engine reports NaN logits.
pub(crate) const POISONED: usize = 17;
/// The letters of which answers consist. Each is a token of the embedded model.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

/// Switches that a test sets, and observations of the engine.
#[derive(Default)]
pub(crate) struct Knobs {
    /// Duration of a step, in microseconds.
    pub(crate) step_time: AtomicU64,
    /// Whether the next step panics.
    pub(crate) panics: AtomicBool,
    /// Whether the next step returns an error.
    pub(crate) fails: AtomicBool,
    /// Whether to shut the server down.
    pub(crate) stop: AtomicBool,
    seen: Mutex<Seen>,
}

/// Observations of the engine.
#[derive(Default, Clone)]
pub(crate) struct Seen {
    /// Number of requests that have a batch slot.
    pub(crate) rows: usize,
    pub(crate) waiting: usize,
    pub(crate) steps: u64,
    /// The id of each cancelled request, and the step of the cancellation.
    pub(crate) cancelled: Vec<(u64, u64)>,
    /// The id of each request whose batch slot was freed, and the step at which it was.
    pub(crate) freed: Vec<(u64, u64)>,
    /// Requests, in order of arrival.
    pub(crate) requests: Vec<Submitted>,
    /// Size of the vocabulary in each call of `use_vocabulary`.
    pub(crate) vocabularies: Vec<usize>,
}

impl Knobs {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("no thread panics while it holds the lock")
    }
}

/// A request as the engine received it.
#[derive(Clone)]
pub(crate) struct Submitted {
    pub(crate) request: Request,
    pub(crate) form: Option<Form>,
    pub(crate) extras: Extras,
}

struct Run {
    id: u64,
    submitted: Submitted,
    new: Vec<u32>,
    text: Vec<u8>,
    slot: Option<usize>,
    over: Option<FinishReason>,
}

/// An engine without a model. Its letters depend on the prompt and, if sampled, on the seed.
struct Fake {
    knobs: Arc<Knobs>,
    tokenizer: Arc<Tokenizer>,
    letters: Vec<u32>,
    runs: VecDeque<Run>,
    chosen: Vec<(u64, Chosen)>,
    found: Vec<(u64, usize)>,
    next: u64,
    steps: u64,
    rows: u64,
}

impl Fake {
    /// Returns the shortest valid answer, if the request requires a shape. If another value may
    /// follow on the next line, the answer has the value twice.
    fn shortest(&self, run: &Run) -> Option<Vec<u32>> {
        let Some(Form::Shape(shape)) = &run.submitted.form else { return None };
        let text = shape.closing_text(&shape.start());
        let end = text.iter().try_fold(shape.start(), |state, &byte| shape.next(&state, byte));
        let several = end.and_then(|end| shape.next(&end, b'\n')).is_some() && !text.is_empty();
        let mut text = String::from_utf8(text).expect("text");
        if several {
            text = format!("{text}\n{text}");
        }
        let tokens = self.tokenizer.encode(&text).expect("tokens");
        Some(tokens).filter(|tokens| !tokens.is_empty())
    }

    /// Reports and removes the requests that are over.
    fn retire(&mut self, on_event: &mut dyn FnMut(Event)) {
        for run in &self.runs {
            if let Some(reason) = run.over {
                on_event(Event::Finished { id: run.id, reason });
                self.knobs.seen().freed.push((run.id, self.steps));
            }
        }
        self.runs.retain(|run| run.over.is_none());
    }

    fn letter(&self, run: &Run) -> u32 {
        if let Some(tokens) = self.shortest(run) {
            return tokens[run.new.len()];
        }
        let Request { prompt, sampling, seed, .. } = &run.submitted.request;
        let seed = if sampling.temperature > 0.0 { *seed } else { 0 };
        let prompt =
            prompt.iter().fold(7u64, |hash, &token| hash.wrapping_mul(31) + u64::from(token));
        let mixed = (prompt ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_add(run.new.len() as u64);
        let mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
        self.letters[mixed as usize % self.letters.len()]
    }
}

impl Batch for Fake {
    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        self.knobs.seen().vocabularies.push(texts.len());
    }

    fn submit(&mut self, request: Request, form: Option<&Form>, extras: Extras) -> Result<u64> {
        let submitted = Submitted { request, form: form.cloned(), extras };
        self.knobs.seen().requests.push(submitted.clone());
        let request = &submitted.request;
        if request.prompt.len() == 13 {
            bail!("the engine does not like thirteen tokens");
        }
        let (id, text) = (self.next, Vec::new());
        self.next += 1;
        let over = (request.max_new_tokens == 0).then_some(FinishReason::Length);
        self.runs.push_back(Run { id, submitted, new: Vec::new(), text, slot: None, over });
        Ok(id)
    }

    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<()> {
        thread::sleep(Duration::from_micros(self.knobs.step_time.load(SeqCst)));
        assert!(!self.knobs.panics.load(SeqCst), "not yet implemented: week3-day1 task 4: Engine");
        if self.knobs.fails.load(SeqCst) {
            bail!("logits that are no numbers");
        }
        self.chosen.clear();
        self.steps += 1;
        self.retire(on_event);
        let taken: Vec<usize> = self.runs.iter().filter_map(|run| run.slot).collect();
        let mut free = (0..ROWS).filter(|slot| !taken.contains(slot));
        for run in self.runs.iter_mut().filter(|run| run.slot.is_none()) {
            run.slot = free.next();
            // Pretends that all tokens but the last were in the cache.
            if run.slot.is_some() {
                self.found.push((run.id, run.submitted.request.prompt.len() - 1));
            }
        }
        for i in 0..self.runs.len() {
            if self.runs[i].slot.is_none() {
                continue;
            }
            self.rows += 1;
            if self.runs[i].submitted.request.prompt.len() == POISONED {
                self.runs[i].over = Some(FinishReason::NotFinite);
                continue;
            }
            let token = self.letter(&self.runs[i]);
            let whole = self.shortest(&self.runs[i]).map(|tokens| tokens.len());
            let run = &mut self.runs[i];
            run.new.push(token);
            run.text.extend(self.tokenizer.token_bytes(token));
            let stops = &run.submitted.request.stop_texts;
            let stopped = stops.iter().any(|stop| run.text.windows(stop.len()).any(|w| w == stop));
            if stopped || whole == Some(run.new.len()) {
                run.over = Some(FinishReason::Stop);
            } else if run.new.len() >= run.submitted.request.max_new_tokens {
                run.over = Some(FinishReason::Length);
            }
            if let Some(top) = run.submitted.extras.logprobs {
                let top = self.letters[..top].iter().map(|&letter| (letter, -2.5)).collect();
                self.chosen.push((run.id, Chosen { token, logprob: -0.5, top }));
            }
            on_event(Event::Token { id: run.id, token });
        }
        // Reports the end of a request in the same step, like the engine of week 3.
        self.retire(on_event);
        let mut seen = self.knobs.seen();
        seen.steps = self.steps;
        seen.rows = self.runs.iter().filter(|run| run.slot.is_some()).count();
        seen.waiting = self.runs.len() - seen.rows;
        Ok(())
    }

    fn cancel(&mut self, id: u64) -> bool {
        let Some(run) = self.runs.iter_mut().find(|run| run.id == id) else { return false };
        run.over.get_or_insert(FinishReason::Interrupted);
        self.knobs.seen().cancelled.push((id, self.steps));
        true
    }

    fn waiting(&self) -> usize {
        self.runs.iter().filter(|run| run.slot.is_none()).count()
    }

    fn take_chosen(&mut self) -> Vec<(u64, Chosen)> {
        std::mem::take(&mut self.chosen)
    }

    fn take_found(&mut self) -> Vec<(u64, usize)> {
        std::mem::take(&mut self.found)
    }

    /// Returns a page for each slot, and one that is remembered.
    fn page_map(&self) -> Vec<PageUse> {
        let mut map = vec![PageUse::Free; ROWS + 1];
        for slot in self.runs.iter().filter_map(|run| run.slot) {
            map[slot] = PageUse::Owned { slot, shared: false };
        }
        map[ROWS] = PageUse::Remembered;
        map
    }

    fn rows(&self) -> Vec<BatchRow> {
        let row = |run: &Run| {
            let prompt = run.submitted.request.prompt.len();
            let (id, new) = (run.id, run.new.len());
            Some(BatchRow { slot: run.slot?, id, prompt, computed: prompt + new, new })
        };
        self.runs.iter().filter_map(row).collect()
    }

    fn counts(&self) -> BatchCounts {
        let used = self.runs.iter().filter(|run| run.slot.is_some()).count();
        let pages = PageCounts {
            pages: ROWS + 1,
            page_len: 32,
            used,
            most_used: used,
            preempted: 0,
            found: Some((3, 7)),
        };
        BatchCounts {
            steps: self.steps,
            rows: self.rows,
            pages: Some(pages),
            drafts: Some((2, 5)),
            ..BatchCounts::default()
        }
    }

    fn waits(&mut self) -> Option<BatchWaits> {
        None
    }
}

/// Decodes tokens of letters. Each is a whole character, so no text is ever held back.
struct Letters;

impl Text for Letters {
    fn push(&mut self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn finish(&mut self) -> String {
        String::new()
    }
}

/// Returns settings with small limits.
pub(crate) fn settings() -> Settings {
    Settings {
        host: "127.0.0.1".to_owned(),
        port: 0,
        allow_hosts: vec!["letters.example".to_owned()],
        name: "letters".to_owned(),
        max_batch: ROWS,
        max_queue: QUEUE,
        max_choices: 3,
        max_prompt: Some(50),
        max_body: 4096,
        max_connections: 64,
        client_queue: CONTEXT,
        header_time: Duration::from_secs(20),
        body_time: Duration::from_secs(20),
        write_time: Duration::from_secs(20),
        grace: Duration::from_secs(20),
        api_key: None,
        cors: None,
    }
}

/// A running server. Dropping it ends the server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) knobs: Arc<Knobs>,
    thread: Option<JoinHandle<Result<ExitCode>>>,
}

/// Starts a server.
pub(crate) fn start(settings: &Settings) -> Running {
    let knobs = Arc::new(Knobs::default());
    let (sender, receiver) = std::sync::mpsc::channel();
    let (own, settings) = (Arc::clone(&knobs), settings.clone());
    // The engine must stay on the thread that created it.
    let thread = thread::spawn(move || {
        let server = Server::bind(opened(&own), &settings).expect("an address");
        sender.send(server.address()).expect("the receiver waits");
        server.run()
    });
    let address = receiver.recv().expect("the server listens");
    Running { address, knobs, thread: Some(thread) }
}

/// Returns a [`Fake`] engine with everything that a server needs to use it.
pub(crate) fn opened(knobs: &Arc<Knobs>) -> Opened {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tiny-story");
    let tokenizer = Arc::new(Tokenizer::from_folder(&folder).expect("the embedded model"));
    let letter = |letter: char| tokenizer.encode(&letter.to_string()).expect("text")[0];
    let letters = LETTERS.chars().map(letter).collect();
    let (own, words) = (Arc::clone(knobs), Arc::clone(&tokenizer));
    Opened {
        batch: Box::new(Fake {
            knobs: Arc::clone(knobs),
            tokenizer: Arc::clone(&tokenizer),
            letters,
            runs: VecDeque::new(),
            chosen: Vec::new(),
            found: Vec::new(),
            next: 10,
            steps: 0,
            rows: 0,
        }),
        vocabulary: tokenizer.vocab_size(),
        tokenizer,
        style: Style::PLAIN,
        render: Box::new(move |messages, tools| {
            let line = |message: &tiny_llm_formats::chat::Message| {
                assert!(message.content != "panic", "not yet implemented: chatml");
                format!("{}:{}\n", message.role, message.content)
            };
            let tools: String = tools.iter().map(|tool| format!("{tool}\n")).collect();
            words.encode(&(tools + &messages.iter().map(line).collect::<String>()))
        }),
        text: || Box::new(Letters),
        stop_tokens: vec![2],
        texts: Box::new(|| vec![Vec::new(); 5]),
        context: CONTEXT,
        described: "letters".to_owned(),
        stop: Box::new(move || own.stop.load(SeqCst)),
    }
}

impl Running {
    /// Shuts the server down and waits until it has ended.
    pub(crate) fn end(&mut self) -> Result<ExitCode> {
        self.knobs.stop.store(true, SeqCst);
        self.wait()
    }

    /// Waits until the server has ended.
    pub(crate) fn wait(&mut self) -> Result<ExitCode> {
        self.thread.take().expect("it ends once").join().expect("it does not panic")
    }

    /// Waits until the observations of the engine satisfy `wanted`. `what` is for the error
    /// message.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&Seen) -> bool) {
        until(what, || wanted(&self.knobs.seen()));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.thread.is_some() && !thread::panicking() {
            self.end().expect("it ends well");
        }
    }
}

/// Waits for a condition that must become true, however busy the machine is.
#[track_caller]
pub(crate) fn until(what: &str, mut wanted: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if wanted() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("timed out waiting for: {what}");
}
