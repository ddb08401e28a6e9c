//! OpenAI's interface over HTTP, in front of either engine.
//!
//! Two threads. The one that calls [`Server::run`] has the engine: between two steps it takes what
//! clients ask for, and after each it hands out what the step has brought, without ever waiting
//! (`engine`). The other has the network: connections (`network`, `patient`, `guard`), paths
//! (`routes`), requests and answers (`api`). Between them are queues with limits: a place for each
//! answer that is computed or waits (`app`), and for each client so many tokens as it may leave
//! unread. The engine tells how it is in numbers (`metrics`) and pictures (`live`, `watch`).
//!
//! Where another program has the network, as Ray has that of a cluster, its requests come by a call
//! (`local`), and the rest is the same.

mod api;
mod app;
mod engine;
mod guard;
mod live;
mod local;
mod metrics;
mod network;
mod patient;
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
    app::{App, Parts},
    engine::{Cut, EngineLoop},
    live::Live,
    metrics::Metrics,
};

/// What the command line returns for a panic in a solution.
const PANICKED: u8 = 101;

/// Serves until the program is told to end.
///
/// # Errors
/// If the address cannot be had, or the engine fails.
pub fn serve(opened: Opened, settings: &Settings) -> Result<ExitCode> {
    let described = opened.described.clone();
    let server = Server::bind(opened, settings)?;
    eprintln!("engine   {described}");
    eprintln!("serving  {} at http://{}", settings.name, server.address());
    server.run()
}

/// A server that listens already, and answers once it runs.
pub struct Server {
    opened: Opened,
    settings: Settings,
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Takes the address.
    ///
    /// # Errors
    /// If another program has it, or this machine does not.
    pub fn bind(opened: Opened, settings: &Settings) -> Result<Self> {
        let (host, port) = (settings.host.as_str(), settings.port);
        let listener = TcpListener::bind((host, port))
            .with_context(|| format!("--host {host} --port {port}: cannot be listened at"))?;
        listener.set_nonblocking(true).context("the network cannot be used")?;
        let address = listener.local_addr().context("the network cannot be used")?;
        Ok(Self { opened, settings: settings.clone(), listener, address })
    }

    /// Where clients find it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is told to end. The engine works on the thread that calls this.
    ///
    /// # Errors
    /// If the engine fails; every client that waits has been told.
    pub fn run(self) -> Result<ExitCode> {
        let Self { opened, settings, listener, .. } = self;
        run_beside(opened, settings, move |app, stop, fallen| {
            network::run(listener, app, stop, fallen)
        })
    }
}

/// Runs the engine on the thread that calls this, and beside it, on a thread of its own, `clients`:
/// it is given whether the server is to end, and whether the engine has fallen.
fn run_beside<C>(mut opened: Opened, settings: Settings, clients: C) -> Result<ExitCode>
where
    C: FnOnce(&Arc<App>, &dyn Fn() -> bool, &AtomicBool) -> io::Result<()> + Send + 'static,
{
    let (commands, receiver) = mpsc::channel();
    let (metrics, live) = (Arc::new(Metrics::new()), Live::new());
    let stop = std::mem::replace(&mut opened.stop, Box::new(|| false));
    let render = std::mem::replace(&mut opened.render, Box::new(|_, _| Err(anyhow!("moved"))));
    let app = App::new(Parts {
        settings,
        tokenizer: Arc::clone(&opened.tokenizer),
        render,
        style: opened.style,
        stop_tokens: opened.stop_tokens.clone(),
        context: opened.context,
        vocabulary: opened.vocabulary,
        described: opened.described.clone(),
        metrics: Arc::clone(&metrics),
        views: live.views(),
        commands,
    });
    let fallen = Arc::new(AtomicBool::new(false));
    let fell = Arc::clone(&fallen);
    let network = thread::Builder::new()
        .name("network".to_owned())
        .spawn(move || clients(&Arc::new(app), &stop, &fell));
    let network = network.context("the system gives no thread")?;
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
    // Nobody takes commands any more: whoever still comes learns that at once.
    drop(receiver);
    fallen.store(true, Relaxed);
    let ended = network.join().map_err(|panic| anyhow!("the network: {}", said(&*panic)))?;
    ended.context("the network cannot be used")?;
    result
}

/// What a request asks for, as far as a fuzzer looks at it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Read {
    /// How many answers.
    pub answers: usize,
    /// Texts that end them.
    pub stops: Vec<String>,
    /// How tokens are chosen.
    pub sampling: SamplerOptions,
}

/// Reads a request's body, for a fuzzer: a chat's, or a text's to continue.
///
/// # Errors
/// The body of the answer that refuses it.
#[doc(hidden)]
pub fn read_body(chat: bool, body: &[u8], choices: usize) -> Result<Read, serde_json::Value> {
    let kind = if chat { Kind::Chat } else { Kind::Completion };
    let request = ApiRequest::read(kind, body, Bounds { choices, style: Style::PLAIN })
        .map_err(|error| error.json())?;
    Ok(Read { answers: request.answers(), stops: request.stop, sampling: request.sampling })
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref().copied()).unwrap_or("a panic").to_owned()
}
