//! Sends an answer to its client: as a whole, or as server-sent events.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::{Arc, OnceLock, mpsc},
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, Bytes},
    http::header,
    response::{IntoResponse, Response},
};
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::mpsc as channel;

use super::{answer::Answers, error::ApiError};
use crate::engine::{Command, Cut, Reply};

/// A waiting client. Dropping this struct cancels the client's answers.
pub(crate) struct Waiting {
    pub(crate) ticket: u64,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) replies: channel::Receiver<Reply>,
    pub(crate) cut: Arc<OnceLock<Cut>>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // If the engine is gone, there is nothing to cancel.
        let _ = self.commands.send(Command::Cancel(self.ticket));
    }
}

/// Waits until all answers are complete, then returns the response.
///
/// # Errors
/// If the response is cut off midway.
pub(crate) async fn whole(mut waiting: Waiting, mut answers: Answers) -> Result<Value, ApiError> {
    while let Some(reply) = waiting.replies.recv().await {
        answers.receive(reply);
    }
    if !answers.are_whole() {
        return Err(ApiError::of_cut(waiting.cut.get()));
    }
    Ok(answers.whole())
}

/// Waits for the engine's first reply, then returns a response that streams events. If the request
/// fails before this reply, the client gets an ordinary error response.
///
/// # Errors
/// If the request is refused or cut off before its first reply.
pub(crate) async fn events(
    mut waiting: Waiting,
    answers: Answers,
    usage: bool,
) -> Result<Response, ApiError> {
    let Some(first) = waiting.replies.recv().await else {
        return Err(ApiError::of_cut(waiting.cut.get()));
    };
    let mut events = Events { waiting, answers, usage, ready: VecDeque::new(), ended: false };
    for choice in 0..events.answers.len() {
        if let Some(opening) = events.answers.head.opening(choice) {
            events.push(opening);
        }
    }
    events.take(first);
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        // Without this header, nginx would buffer the events.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::new(events)).into_response())
}

/// Server-sent events. Each event is created when the connection can send it. Until then, the
/// engine's replies wait in the queue.
struct Events {
    waiting: Waiting,
    answers: Answers,
    usage: bool,
    ready: VecDeque<Bytes>,
    ended: bool,
}

impl Events {
    fn push(&mut self, choice: Value) {
        let mut object = self.answers.head.object(true, vec![choice]);
        if self.usage {
            object["usage"] = Value::Null;
        }
        self.ready.push_back(event(&object.to_string()));
    }

    fn take(&mut self, reply: Reply) {
        if let Some(chunk) = self.answers.chunk(reply) {
            self.push(chunk);
        }
    }

    /// Adds the last events. If an answer is incomplete, this is an error. Otherwise they are the
    /// token counts, if the client wants them, and `[DONE]`.
    fn end(&mut self) {
        self.ended = true;
        if !self.answers.are_whole() {
            let error = ApiError::of_cut(self.waiting.cut.get()).json();
            self.ready.push_back(event(&error.to_string()));
            return;
        }
        if self.usage {
            let mut object = self.answers.head.object(true, Vec::new());
            object["usage"] = self.answers.usage();
            self.ready.push_back(event(&object.to_string()));
        }
        self.ready.push_back(event("[DONE]"));
    }
}

fn event(data: &str) -> Bytes {
    format!("data: {data}\n\n").into()
}

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let events = self.get_mut();
        loop {
            if let Some(bytes) = events.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if events.ended {
                return Poll::Ready(None);
            }
            match ready!(events.waiting.replies.poll_recv(context)) {
                Some(reply) => events.take(reply),
                None => events.end(),
            }
        }
    }
}
