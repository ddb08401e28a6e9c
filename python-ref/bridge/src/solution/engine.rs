//! An engine that answers like the server, for programs that have their own network code.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
};

use anyhow::{Result, anyhow};
use pyo3::exceptions::PyRuntimeError;
use tiny_llm_server::{Local, LocalAnswer, Piece};

use crate::{background::PATIENCE, prelude::*};

exports! { class Engine, Answer; }

/// An engine that answers many requests at once, with the paths, parameters and errors of
/// `cargo llm serve`. It computes on its own threads while Python runs.
#[pyclass(frozen)]
pub(crate) struct Engine {
    local: Mutex<Option<Local>>,
    shown: String,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (
        model, *, threads=None, context=None, max_batch=None, max_queue=None, budget=None, gap=None,
        pages=None, share_prefixes=false, draft=None, name=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        model: PathBuf,
        threads: Option<Count>,
        context: Option<Count>,
        max_batch: Option<Count>,
        max_queue: Option<Count>,
        budget: Option<Count>,
        gap: Option<Count>,
        pages: Option<Count>,
        share_prefixes: bool,
        draft: Option<PathBuf>,
        name: Option<String>,
    ) -> PyResult<Self> {
        let shown = format!("Engine({:?})", model.display().to_string());
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let mut words = vec![format!("--model={}", text(model))];
        for (option, value) in [
            ("threads", threads),
            ("context", context),
            ("max-batch", max_batch),
            ("max-queue", max_queue),
            ("budget", budget),
            ("gap", gap),
            ("pages", pages),
        ] {
            words.extend(value.map(|n| format!("--{option}={}", n.0)));
        }
        words.extend(share_prefixes.then(|| "--share-prefixes".to_owned()));
        words.extend(draft.map(|draft| format!("--draft={}", text(draft))));
        words.extend(name.map(|name| format!("--name={name}")));
        let started = call(move || Local::start(move || super::open(&words)))?;
        Ok(Self { local: Mutex::new(Some(started.map_err(value_error)?)), shown })
    }

    /// Submits a request, without waiting for the answer. `path` is a path of the server, such as
    /// `/v1/chat/completions`, and `body` is the request's body.
    #[pyo3(signature = (path, body=None, *, method="POST", headers=None))]
    fn submit(
        &self,
        path: &str,
        body: Option<Octets>,
        method: &str,
        headers: Option<Vec<(String, String)>>,
    ) -> PyResult<Answer> {
        let local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        let local = local.as_ref().ok_or_else(|| ended(anyhow!("the engine was closed")))?;
        let mut headers = headers.unwrap_or_default();
        if body.is_some()
            && headers.iter().all(|(name, _)| !name.eq_ignore_ascii_case("content-type"))
        {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let body = body.map_or_else(Vec::new, |body| body.0);
        let answer = local.ask(method, path, &headers, body).map_err(wrong_argument("request"))?;
        Ok(Answer { answer: Mutex::new(Some(answer)) })
    }

    /// Stops the engine and ends all unfinished answers.
    fn close(&self) -> PyResult<()> {
        let local = self.local.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut local) = local else { return Ok(()) };
        call(move || local.close())?.map_err(ended)
    }

    fn __repr__(&self) -> &str {
        &self.shown
    }
}

/// An answer that arrives in pieces. If it is cancelled or no longer referenced, the engine stops
/// computing it before the next step.
#[pyclass(frozen)]
pub(crate) struct Answer {
    answer: Mutex<Option<LocalAnswer>>,
}

#[pymethods]
impl Answer {
    /// The HTTP status, such as 200. Waits until it is known.
    #[getter]
    fn status(&self) -> PyResult<u16> {
        self.wait(|answer| Ok(answer.head(PATIENCE)?.map(|head| head.status)))
    }

    /// The names and values of the headers. Waits until they are known.
    #[getter]
    fn headers(&self) -> PyResult<Vec<(String, String)>> {
        self.wait(|answer| Ok(answer.head(PATIENCE)?.map(|head| head.headers.clone())))
    }

    /// Returns the rest of the body, after what has already been read.
    fn read(&self) -> PyResult<Octets> {
        let mut all = Vec::new();
        while let Some(bytes) = self.more()? {
            all.extend(bytes);
        }
        Ok(Octets(all))
    }

    /// Cancels the answer. Later reads return nothing.
    fn cancel(&self, py: Python<'_>) {
        // A waiting thread holds the lock for at most two intervals.
        drop(py.detach(|| self.answer.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self) -> PyResult<Option<Octets>> {
        Ok(self.more()?.map(Octets))
    }

    fn __repr__(&self) -> &'static str {
        "Answer()"
    }
}

impl Answer {
    fn more(&self) -> PyResult<Option<Vec<u8>>> {
        if self.lock()?.is_none() {
            return Ok(None);
        }
        self.wait(|answer| {
            Ok(match answer.more(PATIENCE)? {
                Piece::Later => None,
                Piece::Bytes(bytes) => Some(Some(bytes)),
                Piece::End => Some(None),
            })
        })
    }

    /// Calls `ask` until it returns a value, without the interpreter lock. Handles Ctrl-C.
    fn wait<T: Send>(
        &self,
        ask: impl Fn(&mut LocalAnswer) -> Result<Option<T>> + Send + Sync,
    ) -> PyResult<T> {
        Python::attach(|py| {
            loop {
                let asked = py.detach(|| -> PyResult<Option<T>> {
                    let mut answer = self.lock()?;
                    let Some(answer) = answer.as_mut() else {
                        return Err(ended(anyhow!("the answer was cancelled")));
                    };
                    ask(answer).map_err(ended)
                })?;
                py.check_signals()?;
                if let Some(found) = asked {
                    return Ok(found);
                }
            }
        })
    }

    /// Locks the answer. Only one thread at a time may wait for it.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<LocalAnswer>>> {
        match self.answer.try_lock() {
            Ok(answer) => Ok(answer),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("another thread waits for this answer"))
            }
        }
    }
}

fn ended(error: anyhow::Error) -> PyErr {
    PyRuntimeError::new_err(format!("{error:#}"))
}
