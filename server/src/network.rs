//! Accepts and serves connections.

use std::{
    future::pending,
    io,
    net::TcpListener as StdListener,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{interval, sleep, timeout},
};
use tokio_io_timeout::TimeoutWriter;

use crate::{app::App, engine::Command, guard::MAX_HEADER, routes::router};

/// How often to check for shutdown.
const PERIOD: Duration = Duration::from_millis(50);
/// Time that clients have, at shutdown, to read why their answers were cut off.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves until `stop` returns true, or `fallen` says that the engine has stopped.
///
/// # Errors
/// If the network runtime cannot be started.
pub(crate) fn run(
    listener: StdListener,
    app: &Arc<App>,
    stop: &dyn Fn() -> bool,
    fallen: &AtomicBool,
) -> io::Result<()> {
    // One thread is enough. The other cores are left to the engine.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(2)
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let router = router(Arc::clone(app));
        let (end, ends) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut period = interval(PERIOD);
        while !stop() && !fallen.load(Relaxed) {
            let room = connections.len() < app.settings.max_connections;
            let accepted = async { if room { listener.accept().await } else { pending().await } };
            tokio::select! {
                accepted = accepted => match accepted {
                    Ok((stream, _)) => {
                        let connection =
                            connection(stream, router.clone(), Arc::clone(app), ends.clone());
                        connections.spawn(connection);
                    }
                    // Out of file descriptors, or the client is already gone.
                    Err(_) => sleep(PERIOD).await,
                },
                Some(_) = connections.join_next() => {}
                _ = period.tick() => {}
            }
        }
        drop(listener);
        app.ending.store(true, Relaxed);
        let _ = end.send(true);
        let grace = if fallen.load(Relaxed) { LAST_WORDS } else { app.settings.grace };
        join_all(&mut connections, grace).await;
        app.tell(Command::End);
        join_all(&mut connections, LAST_WORDS).await;
        Ok(())
    })
}

/// Waits until all connections have ended, or until `limit` has passed.
async fn join_all(connections: &mut JoinSet<()>, limit: Duration) {
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(limit, ended).await;
}

/// Serves one connection until the client closes it, sends invalid HTTP or exceeds a time limit, or
/// the server shuts down.
async fn connection(
    stream: TcpStream,
    router: Router,
    app: Arc<App>,
    mut ends: watch::Receiver<bool>,
) {
    app.metrics.connections.fetch_add(1, Relaxed);
    let settings = &app.settings;
    // Tokens are small packets. Each is sent immediately, without waiting for an acknowledgement.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(settings.write_time));
    let stream = TokioIo::new(Box::pin(stream));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_time)
        // hyper checks this limit only after a read, which may add as many bytes again. The guard
        // checks the exact size.
        .max_buf_size(MAX_HEADER)
        .serve_connection(stream, TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    // An error on a connection affects only its client.
    let ended = tokio::select! {
        _ = connection.as_mut() => true,
        _ = ends.wait_for(|&end| end) => false,
    };
    if !ended {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
    app.metrics.connections.fetch_sub(1, Relaxed);
}
