//! A server without a network: requests arrive by function call. Their paths, limits and queues are
//! the same as over HTTP.

use std::{
    io,
    pin::{Pin, pin},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc as system,
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, JoinHandle, Thread},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, ensure};
use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderName, HeaderValue, Method, Request, Uri},
};
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tiny_llm_cli::{Opened, Settings};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{interval, timeout},
};

use crate::{app::App, engine::Command, routes::router, run_beside};

/// How often to check whether the engine has failed.
const PERIOD: Duration = Duration::from_millis(50);
/// Maximum number of chunks of an answer that are buffered for the caller. The tokens after them
/// wait in the client's queue.
const PIECES: usize = 8;

/// A server without a network: an engine on one thread, and the handlers of its requests on
/// another. Dropping this struct ends unfinished answers.
pub struct Local {
    requests: Option<mpsc::UnboundedSender<Job>>,
    engine: Option<JoinHandle<Result<ExitCode>>>,
}

/// A request, and the channel through which its caller receives the [`Head`] of the answer.
struct Job {
    request: Request<Body>,
    head: oneshot::Sender<Head>,
}

/// Status and headers of an answer.
pub struct LocalHead {
    /// HTTP status, such as 200.
    pub status: u16,
    /// Names and values of the headers.
    pub headers: Vec<(String, String)>,
}

/// An answer's status and headers, and the channel through which its body arrives.
struct Head {
    head: LocalHead,
    pieces: mpsc::Receiver<Bytes>,
}

/// An answer in progress. Dropping it cancels its request, which the engine does between two steps.
pub struct LocalAnswer(State);

enum State {
    Asked(oneshot::Receiver<Head>),
    Answered(Head),
}

/// The result of waiting for the next part of an answer's body.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// The next part of the body.
    Bytes(Vec<u8>),
    /// Nothing has arrived within the time limit.
    Later,
    /// The body has ended.
    End,
}

impl Local {
    /// Starts the thread that owns the engine, and opens the engine there with `open`.
    ///
    /// # Errors
    /// If the engine cannot be opened.
    pub fn start<O>(open: O) -> Result<Self>
    where
        O: FnOnce() -> Result<(Opened, Settings)> + Send + 'static,
    {
        let (requests, jobs) = mpsc::unbounded_channel();
        let (say, hear) = system::channel();
        let work = move || {
            let opened = open().and_then(|opened| Ok((opened, runtime()?)));
            let ((opened, settings), runtime) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    let _ = say.send(Err(error));
                    return Ok(ExitCode::FAILURE);
                }
            };
            let _ = say.send(Ok(()));
            run_beside(opened, settings, move |app, _, fallen| {
                runtime.block_on(run(jobs, app, fallen));
                Ok(())
            })
        };
        let engine = thread::Builder::new().name("engine".to_owned()).stack_size(8 << 20);
        let engine = engine.spawn(work).context("cannot start a thread")?;
        match hear.recv() {
            Ok(Ok(())) => Ok(Self { requests: Some(requests), engine: Some(engine) }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(match engine.join() {
                Err(panic) => anyhow!("{}", crate::said(&*panic)),
                Ok(_) => anyhow!("the engine ended before it was ready"),
            }),
        }
    }

    /// Submits a request, without waiting for the answer.
    ///
    /// # Errors
    /// If the method, the path or a header is invalid, or the engine has stopped. (Other invalid
    /// requests get an answer with an error status.)
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<LocalAnswer> {
        let method: Method =
            method.parse().with_context(|| format!("method: {method:?} is not an HTTP method"))?;
        let uri: Uri =
            path.parse().with_context(|| format!("path: {path:?} is not a valid path"))?;
        ensure!(path.starts_with('/'), "path: found {path:?}, expected one that begins with /");
        let mut request = Request::new(Body::from(body));
        (*request.method_mut(), *request.uri_mut()) = (method, uri);
        for (name, value) in headers {
            let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value.as_str()))
            else {
                return Err(anyhow!(
                    "headers: the name or the value of {name:?} is not valid in HTTP"
                ));
            };
            request.headers_mut().append(name, value);
        }
        let (head, asked) = oneshot::channel();
        let sender = self.requests.as_ref().context("the engine was closed")?;
        sender.send(Job { request, head }).map_err(|_| anyhow!("the engine has ended"))?;
        Ok(LocalAnswer(State::Asked(asked)))
    }

    /// Stops the engine and ends all unfinished answers.
    ///
    /// # Errors
    /// If the engine has returned an error. (If a step of the engine panicked, this function
    /// returns no error.)
    pub fn close(&mut self) -> Result<()> {
        self.requests = None;
        let Some(engine) = self.engine.take() else { return Ok(()) };
        let ended = engine.join().map_err(|panic| anyhow!("{}", crate::said(&*panic)))?;
        ended.map(|_| ())
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

impl LocalAnswer {
    /// Waits at most `patience` for the answer's status and headers. Returns `None` if they have
    /// not arrived by then.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub fn head(&mut self, patience: Duration) -> Result<Option<&LocalHead>> {
        if let State::Asked(asked) = &mut self.0 {
            match wait(patience, asked) {
                None => return Ok(None),
                Some(Err(_)) => return Err(anyhow!("the engine has ended")),
                Some(Ok(head)) => self.0 = State::Answered(head),
            }
        }
        let State::Answered(answered) = &self.0 else { return Ok(None) };
        Ok(Some(&answered.head))
    }

    /// Waits at most `patience` for the answer's headers, then at most `patience` for the next part
    /// of its body. Returns everything that has arrived by then as one piece.
    ///
    /// # Errors
    /// If the engine stopped before the answer began.
    pub fn more(&mut self, patience: Duration) -> Result<Piece> {
        if self.head(patience)?.is_none() {
            return Ok(Piece::Later);
        }
        let State::Answered(head) = &mut self.0 else { return Ok(Piece::Later) };
        let pieces = &mut head.pieces;
        let first = match pieces.try_recv() {
            Ok(first) => Some(Some(first)),
            Err(_) => wait(patience, pin!(pieces.recv())),
        };
        Ok(match first {
            None => Piece::Later,
            Some(None) => Piece::End,
            Some(Some(first)) => {
                let mut bytes = first.to_vec();
                while let Ok(next) = pieces.try_recv() {
                    bytes.extend_from_slice(&next);
                }
                Piece::Bytes(bytes)
            }
        })
    }
}

/// Wakes the thread that waits in [`wait`].
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits at most `patience` on this thread for the output of `future`. Returns `None` if the time
/// runs out. Uses no async runtime, because the engine's runtime may have ended.
fn wait<F: Future + Unpin>(patience: Duration, mut future: F) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let deadline = Instant::now() + patience;
    loop {
        let polled = Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        let left = deadline.checked_duration_since(Instant::now())?;
        thread::park_timeout(left);
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    // One thread is enough. The other cores are left to the engine.
    tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build()
}

/// Answers requests until all senders of `jobs` are gone, or `fallen` says that the engine has
/// stopped.
async fn run(mut jobs: mpsc::UnboundedReceiver<Job>, app: &Arc<App>, fallen: &AtomicBool) {
    let service = TowerToHyperService::new(router(Arc::clone(app)));
    let mut running = JoinSet::new();
    let mut period = interval(PERIOD);
    while !fallen.load(Relaxed) {
        tokio::select! {
            job = jobs.recv() => match job {
                Some(job) => { running.spawn(answer(service.clone(), job)); }
                None => break,
            },
            Some(_) = running.join_next() => {}
            _ = period.tick() => {}
        }
    }
    app.ending.store(true, Relaxed);
    app.tell(Command::End);
    // Clients whose answers were cut off still have to receive the reason.
    let last_words = async { while running.join_next().await.is_some() {} };
    let _ = timeout(Duration::from_secs(2), last_words).await;
}

/// Answers one request. Stops if its caller no longer waits.
async fn answer(service: TowerToHyperService<Router>, job: Job) {
    let Job { request, mut head } = job;
    let response = tokio::select! {
        response = service.call(request) => response,
        () = head.closed() => return,
    };
    let Ok(response) = response;
    let (parts, mut body) = response.into_parts();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
    let (sender, pieces) = mpsc::channel(PIECES);
    let status = parts.status.as_u16();
    let answered = LocalHead { status, headers: headers.collect() };
    if head.send(Head { head: answered, pieces }).is_err() {
        return;
    }
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = sender.closed() => return,
        };
        let Some(Ok(frame)) = frame else { return };
        let Ok(bytes) = frame.into_data() else { continue };
        if sender.send(bytes).await.is_err() {
            return;
        }
    }
}
