//! Runs a solution's code without blocking Python: other threads run, and Ctrl-C takes effect.
//!
//! Python's main thread handles signals, and only between two steps of Python code. So the work
//! runs on its own thread. Meanwhile, the calling thread waits without the interpreter lock and
//! checks for signals at intervals. After Ctrl-C it stops waiting. The work then continues in the
//! background until it is done or next calls Python.

use std::{
    convert::Infallible,
    panic::resume_unwind,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::panics::{Abandoned, catch, value_error};

/// Interval between two checks for signals.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// Stack size of a worker: that of a program's main thread on most systems.
const STACK: usize = 8 << 20;

/// Runs `work`, which calls a solution, on a worker thread, and returns its result.
///
/// # Errors
/// If the code panics, or a Python signal handler raises an exception.
pub(crate) fn call<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    converse(|_| work(), |never: Infallible| -> PyResult<()> { match never {} })
}

/// Works like [`call`], for code that returns a `Result`: an error becomes a `ValueError`.
///
/// # Errors
/// The same as for [`call`], and any error that `work` returns.
pub(crate) fn attempt<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> PyResult<T> {
    call(work)?.map_err(value_error)
}

/// Works like [`call`], for code that calls back into Python. `work` sends its questions to
/// `answer`, which runs on the calling thread. An exception in `answer` ends the work.
///
/// # Errors
/// The same as for [`call`], and any error that `answer` returns.
pub(crate) fn converse<Q: Send + 'static, A: Send + 'static, T: Send + 'static>(
    work: impl FnOnce(&mut dyn FnMut(Q) -> A) -> T + Send + 'static,
    mut answer: impl FnMut(Q) -> PyResult<A>,
) -> PyResult<T> {
    let (say, mut hear) = channel();
    let (reply, replies) = channel::<PyResult<A>>();
    let worker = move || {
        let mut ask = |question| {
            let answered =
                say.send(Said::Question(question)).ok().and_then(|()| replies.recv().ok());
            match answered {
                Some(Ok(answer)) => answer,
                Some(Err(error)) => resume_unwind(Box::new(error)),
                None => resume_unwind(Box::new(Abandoned)),
            }
        };
        let result = catch(|| work(&mut ask));
        // Sending fails if the caller was interrupted.
        let _ = say.send(Said::Result(result));
    };
    let thread = thread::Builder::new().name("tiny_llm".to_owned()).stack_size(STACK);
    thread
        .spawn(worker)
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    // This thread is already attached, so attaching again only increments a counter.
    Python::attach(|py| {
        loop {
            let said;
            (said, hear) = py.detach(move || (hear.recv_timeout(PATIENCE), hear));
            match said {
                Ok(Said::Question(question)) => {
                    let answer = answer(question);
                    // Only Python code handles signals, and `answer` may not have run any.
                    py.check_signals()?;
                    // The worker is waiting for the answer, so this can't fail.
                    let _ = reply.send(answer);
                }
                Ok(Said::Result(result)) => return result,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the thread ended without a result"));
                }
            }
        }
    })
}

/// A message from the worker: a question for Python, or the result of the work.
enum Said<Q, T> {
    Question(Q),
    Result(PyResult<T>),
}

/// A value that Python owns and a solution changes. After Ctrl-C, the abandoned work may still use
/// it. The next call then waits for that work, and can itself be interrupted.
pub(crate) struct Kept<T>(Arc<Mutex<T>>);

impl<T: Send + 'static> Kept<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    /// Runs a solution's code on the value.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> PyResult<R> {
        let kept = Arc::clone(&self.0);
        call(move || work(&mut kept.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Works like [`attempt`], on the value.
    pub(crate) fn attempt<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> anyhow::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        self.call(work)?.map_err(value_error)
    }

    /// Works like [`converse`], on the value.
    pub(crate) fn converse<Q: Send + 'static, A: Send + 'static, R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T, &mut dyn FnMut(Q) -> A) -> R + Send + 'static,
        answer: impl FnMut(Q) -> PyResult<A>,
    ) -> PyResult<R> {
        let kept = Arc::clone(&self.0);
        let work = move |ask: &mut dyn FnMut(Q) -> A| {
            work(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), ask)
        };
        converse(work, answer)
    }
}
