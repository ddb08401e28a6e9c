//! OpenAI's API over HTTP, for any engine that runs batches.
//!
//! There are two main threads. The thread that calls [`Server::run`] owns the engine (`engine`).
//! Between two steps it takes commands, and after each step it sends the new tokens. It never waits
//! for a client. The other thread handles the network: connections (`network`, `guard`), paths
//! (`routes`), requests and answers (`api`). Up to two more threads parse and tokenize requests
//! (`routes`). The queues between the threads stay short: each running or waiting answer needs a
//! permit (`app`), and each client may have only a limited number of unread tokens. The engine
//! publishes metrics (`metrics`) and a live view (`live`, `watch`).
//!
//! If another program handles the network, as Ray does in a cluster, requests arrive by function
//! call instead (`local`). Everything else is the same.

mod api;
mod app;
mod engine;
mod guard;
mod live;
mod local;
mod metrics;
mod network;
mod routes;
mod watch;

use std::{
    any::Any,
    io,
    net::{SocketAddr, TcpListener},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use anyhow::{Context, Result, anyhow};
use tiny_llm_cli::{Opened, Settings, Style};
use tiny_llm_formats::request::SamplerOptions;

pub use crate::local::{Local, LocalAnswer, LocalHead, Piece};
use crate::{
    api::{
        kind::Kind,
        request::{ApiRequest, Bounds},
    },
    app::App,
    engine::{Cut, EngineLoop},
    live::Live,
    metrics::Metrics,
};

/// The command line's exit code for a panic in a solution.
const PANICKED: u8 = 101;

/// Runs a server until the program receives a signal to end.
///
/// # Errors
/// If the address is unavailable, or the engine fails.
pub fn serve(opened: Opened, settings: &Settings) -> Result<ExitCode> {
    let described = opened.described.clone();
    let server = Server::bind(opened, settings)?;
    eprintln!("engine   {described}");
    eprintln!("serving  {} at http://{}", settings.name, server.address());
    server.run()
}

/// A server that is listening. It answers once [`Server::run`] is called.
pub struct Server {
    opened: Opened,
    settings: Settings,
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Opens a listener at the address in `settings`.
    ///
    /// # Errors
    /// If the address is in use or does not belong to this machine.
    pub fn bind(opened: Opened, settings: &Settings) -> Result<Self> {
        let (host, port) = (settings.host.as_str(), settings.port);
        let listener = TcpListener::bind((host, port)).with_context(|| {
            format!("--host {host} --port {port}: cannot listen on this address")
        })?;
        listener.set_nonblocking(true).context("the listener cannot be set up")?;
        let address = listener.local_addr().context("the listener has no address")?;
        Ok(Self { opened, settings: settings.clone(), listener, address })
    }

    /// Returns the address at which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until shutdown. The engine runs on the calling thread. If the engine fails or panics,
    /// an error is sent to each waiting client. After a panic, the exit code is 101.
    ///
    /// # Errors
    /// If the engine or the network thread fails.
    pub fn run(self) -> Result<ExitCode> {
        let Self { opened, settings, listener, .. } = self;
        run_beside(opened, settings, move |app, stop, fallen| {
            network::run(listener, app, stop, fallen)
        })
    }
}

/// Runs the engine on the calling thread, and `clients` on another thread. `clients` receives the
/// shared state, a function that returns whether to shut down, and a flag that is set when the
/// engine has stopped.
fn run_beside<C>(mut opened: Opened, settings: Settings, clients: C) -> Result<ExitCode>
where
    C: FnOnce(&Arc<App>, &dyn Fn() -> bool, &AtomicBool) -> io::Result<()> + Send + 'static,
{
    let (commands, receiver) = mpsc::channel();
    let (metrics, live) = (Arc::new(Metrics::new()), Live::new());
    let stop = std::mem::replace(&mut opened.stop, Box::new(|| false));
    let app = App::new(&mut opened, settings, Arc::clone(&metrics), live.views(), commands);
    let fallen = Arc::new(AtomicBool::new(false));
    let fell = Arc::clone(&fallen);
    let network = thread::Builder::new()
        .name("network".to_owned())
        .spawn(move || clients(&Arc::new(app), &stop, &fell));
    let network = network.context("cannot start a thread")?;
    let mut engine_loop = EngineLoop::new(opened, metrics, live);
    let ran = catch_unwind(AssertUnwindSafe(|| engine_loop.run(&receiver)));
    let result = match ran {
        Ok(Ok(())) => Ok(ExitCode::SUCCESS),
        Ok(Err(error)) => {
            engine_loop.cut_all(&Cut::Failed(format!("{error:#}")));
            Err(error)
        }
        Err(panic) => {
            engine_loop.cut_all(&Cut::Failed(said(&*panic)));
            Ok(ExitCode::from(PANICKED))
        }
    };
    // The engine has stopped. New clients get an error immediately.
    drop(receiver);
    fallen.store(true, Relaxed);
    let ended = network
        .join()
        .map_err(|panic| anyhow!("the network thread panicked: {}", said(&*panic)))?;
    ended.context("the network thread failed")?;
    result
}

/// The parts of a parsed request that a fuzzer checks.
#[doc(hidden)]
#[derive(Debug)]
pub struct Read {
    /// Number of answers.
    pub answers: usize,
    /// Stop texts.
    pub stops: Vec<String>,
    /// Sampling options.
    pub sampling: SamplerOptions,
}

/// Reads the body of a chat request or a completion request, for a fuzzer. `choices` is the maximum
/// number of answers.
///
/// # Errors
/// If the request is invalid. The error is the body of the error response.
#[doc(hidden)]
pub fn read_body(chat: bool, body: &[u8], choices: usize) -> Result<Read, serde_json::Value> {
    let kind = if chat { Kind::Chat } else { Kind::Completion };
    let request = ApiRequest::read(kind, body, Bounds { choices, style: Style::PLAIN })
        .map_err(|error| error.json())?;
    Ok(Read { answers: request.answers(), stops: request.stop, sampling: request.sampling })
}

/// Returns the message of a panic from its payload.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref().copied()).unwrap_or("a panic").to_owned()
}
