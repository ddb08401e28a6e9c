//! The live view of the batch, as server-sent events.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use hyper::body::Frame;
use tokio::{sync::mpsc, time};

use crate::{app::App, engine::Command};

/// How often to check for shutdown.
const PERIOD: Duration = Duration::from_millis(250);

/// Sends the current view to the client, then every later view that the client reads in time.
pub(crate) async fn watch(State(app): State<Arc<App>>) -> Response {
    let (sender, pieces) = mpsc::channel(1);
    let mut views = app.views.subscribe();
    app.tell(Command::Show);
    tokio::spawn(async move {
        let mut period = time::interval(PERIOD);
        loop {
            tokio::select! {
                changed = views.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
                _ = period.tick() => {
                    if app.ending.load(Relaxed) {
                        return;
                    }
                    continue;
                }
            }
            let view = Arc::clone(&views.borrow_and_update());
            // A slow client misses views.
            if sender.send(format!("data: {view}\n\n").into()).await.is_err() {
                return;
            }
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::new(Pieces(pieces))).into_response()
}

struct Pieces(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}
