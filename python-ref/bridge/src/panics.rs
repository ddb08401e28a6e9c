//! A panic in a solution becomes a Python exception that carries its message; nothing is printed.

use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

use pyo3::{create_exception, exceptions::PyRuntimeError, exceptions::PyValueError, prelude::*};

create_exception!(
    tiny_llm,
    SolutionPanic,
    PyRuntimeError,
    "A solution panicked. The text is its message and where it panicked."
);
create_exception!(
    tiny_llm,
    NotImplementedYet,
    SolutionPanic,
    "A stub was reached. The text names the day, the task and the function."
);

thread_local! {
    /// How many calls into a solution this thread is in: a callback from Python may call again.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics that [`catch`] will report off the standard error; others print as before.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 {
                previous(info);
            } else {
                LOCATION.set(info.location().map(ToString::to_string).unwrap_or_default());
            }
        }));
    });
}

/// Runs a solution's code on this thread: a panic becomes an exception.
///
/// # Errors
/// If the code panics, or a callback of its raised an exception.
pub(crate) fn catch<T>(f: impl FnOnce() -> T) -> PyResult<T> {
    DEPTH.set(DEPTH.get() + 1);
    // What a panic leaves half done is not looked at again: every call works on values of its own.
    let result = catch_unwind(AssertUnwindSafe(f));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|payload| match payload.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text
                .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
                .unwrap_or_default();
            let stub = text.starts_with("not yet implemented");
            let text = format!("{text}\n  at {}", LOCATION.take());
            if stub { NotImplementedYet::new_err(text) } else { SolutionPanic::new_err(text) }
        }
    })
}

/// What ends work that nobody waits for any more.
pub(crate) struct Abandoned;

/// An error of a solution or of the files' floor, as one line.
pub(crate) fn value_error(error: anyhow::Error) -> PyErr {
    PyValueError::new_err(format!("{error:#}"))
}

/// As [`value_error`], for what is wrong with an argument.
pub(crate) fn wrong_argument(argument: &str) -> impl Fn(anyhow::Error) -> PyErr {
    move |error| PyValueError::new_err(format!("{argument}: {error:#}"))
}
