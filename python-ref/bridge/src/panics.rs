//! Turns a solution's panic into a Python exception with its message. Nothing is printed.

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
    /// Number of nested calls into a solution on this thread. A Python callback may call again.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Installs a panic hook that prints nothing for panics that [`catch`] reports.
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

/// Runs a solution's code on this thread, and turns a panic into an exception.
///
/// # Errors
/// If the code panics, or one of its callbacks raises an exception.
pub(crate) fn catch<T>(f: impl FnOnce() -> T) -> PyResult<T> {
    DEPTH.set(DEPTH.get() + 1);
    // A panic may leave a `Kept` value half changed. Later calls still use that value.
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

/// The panic payload that ends abandoned work.
pub(crate) struct Abandoned;

/// Returns an error of a solution or of `tiny_llm_formats` as a one-line `ValueError`.
pub(crate) fn value_error(error: anyhow::Error) -> PyErr {
    PyValueError::new_err(format!("{error:#}"))
}

/// Works like [`value_error`], but the message begins with the argument's name.
pub(crate) fn wrong_argument(argument: &str) -> impl Fn(anyhow::Error) -> PyErr {
    move |error| PyValueError::new_err(format!("{argument}: {error:#}"))
}
