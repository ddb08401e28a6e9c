//! Running a solution's code so that Python stays alive: other threads run, and Ctrl-C is heard.
//!
//! A signal is handled by Python's main thread, and only between two steps of Python code. So the
//! work is done on a thread of its own, while the thread that called waits without the interpreter
//! lock and looks for signals every now and then. After Ctrl-C it does not wait any longer: the
//! work is left to itself and ends at its next question, or when it is done.

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

/// How long Ctrl-C may have to wait.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// As much as the main thread of a program has on most systems.
const STACK: usize = 8 << 20;

/// Runs a solution's code.
///
/// # Errors
/// If it panics, or Python handles a signal meanwhile and raises an exception.
pub(crate) fn call<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    converse(|_| work(), |never: Infallible| -> PyResult<()> { match never {} })
}

/// As [`call`], for code that may fail: its error is a `ValueError`.
///
/// # Errors
/// As [`call`], and what `work` returns.
pub(crate) fn attempt<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> PyResult<T> {
    call(work)?.map_err(value_error)
}

/// As [`call`], for code that asks questions on its way. They are answered by `answer` on the
/// thread that called; an exception there ends the work.
///
/// # Errors
/// As [`call`], and whatever `answer` returns.
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
        // Nobody may be listening any more.
        let _ = say.send(Said::Result(result));
    };
    let thread = thread::Builder::new().name("tiny_llm".to_owned()).stack_size(STACK);
    thread
        .spawn(worker)
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    // Python called, so this thread is attached already: attaching again costs a counter.
    Python::attach(|py| {
        loop {
            let said;
            (said, hear) = py.detach(move || (hear.recv_timeout(PATIENCE), hear));
            match said {
                Ok(Said::Question(question)) => {
                    let answer = answer(question);
                    // An answer that runs no Python code handles no signals.
                    py.check_signals()?;
                    // The worker waits for it, so it is there.
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

/// What a worker sends.
enum Said<Q, T> {
    Question(Q),
    Result(PyResult<T>),
}

/// A value that Python keeps and a solution changes. Work that was left to itself after Ctrl-C
/// still has it: the next call waits, and can be interrupted while it does.
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

    /// As [`attempt`], on the value.
    pub(crate) fn attempt<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> anyhow::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        self.call(work)?.map_err(value_error)
    }

    /// As [`converse`], on the value.
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
