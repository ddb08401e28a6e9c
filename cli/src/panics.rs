//! Prints a panic in a solution as one line. For a stub, the line names the missing task.

use std::{
    backtrace::Backtrace,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::{Arc, Mutex, PoisonError},
};

use super::output;

/// Replaces the standard panic message and the backtrace with one line. If consecutive panics have
/// the same message, prints that message once.
pub(super) fn install() {
    let last = Mutex::new(String::new());
    std::panic::set_hook(Box::new(move |panic| {
        let line = one_line(panic);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != line {
            output::note(&line);
            *last = line;
        }
    }));
}

/// Stores the line that [`install`] would print for the first panic, and prints nothing. Returns a
/// function that returns the stored line.
pub(super) fn remember() -> impl Fn() -> String {
    let first = Arc::new(Mutex::new(None));
    let hook = Arc::clone(&first);
    std::panic::set_hook(Box::new(move |panic| {
        hook.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| one_line(panic));
    }));
    move || first.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// Returns the result of `run`. If `run` panics, returns the line for the panic and prints nothing.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let said = remember();
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    install();
    result.map_err(|_| said())
}

fn one_line(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(payload.downcast_ref().copied())
        .unwrap_or("a panic");
    let (file, line) = panic.location().map_or(("?", 0), |at| (at.file(), at.line()));
    missing_task(message, file).unwrap_or_else(|| {
        let place =
            place_in_solution(file, line).unwrap_or_else(|| format!("{}:{line}", slashes(file)));
        format!("error: {} ({place})", output::one_line(message))
    })
}

/// Parses the message of a stub's `todo!`, which names the feature, the task and the function:
/// `week1-day5 task 3: Model::forward`. Returns the line to print, or `None` for any other message.
fn missing_task(message: &str, file: &str) -> Option<String> {
    let task = message.strip_prefix("not yet implemented: ")?;
    let (feature, rest) = task.split_once(' ')?;
    let generated =
        feature.starts_with("week") && feature.contains("-day") && rest.starts_with("task ");
    generated.then(|| {
        format!(
            "this needs {} ({}); run cargo test --features {feature}",
            output::one_line(task),
            slashes(file)
        )
    })
}

/// If a library panicked, for example because of mismatched shapes, returns the line of the
/// solution that called it: the innermost frame in a week's module.
fn place_in_solution(file: &str, line: u32) -> Option<String> {
    if slashes(file).contains("src/week") {
        return None;
    }
    let trace = slashes(&Backtrace::force_capture().to_string());
    let frame = trace
        .lines()
        .find_map(|frame| frame.trim().strip_prefix("at ").filter(|at| at.contains("src/week")))?;
    let frame = frame.strip_prefix("./").unwrap_or(frame);
    // FILE:LINE:COLUMN
    let place = frame.rsplit_once(':').map_or(frame, |(place, _)| place);
    Some(format!("{place}, from {}:{line}", slashes(file)))
}

fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::missing_task;

    #[test]
    fn missing_task_recognizes_only_stubs() {
        assert_eq!(
            missing_task(
                "not yet implemented: week1-day5 task 3: Model::forward",
                "src/week1/model/model.rs"
            )
            .unwrap(),
            "this needs week1-day5 task 3: Model::forward (src/week1/model/model.rs); run cargo test \
             --features week1-day5"
        );
        assert_eq!(
            missing_task("not yet implemented: my own note", "src/week1/model/model.rs"),
            None
        );
        assert_eq!(missing_task("not yet implemented", "src/week1/model/model.rs"), None);
        assert_eq!(missing_task("index out of bounds", "src/week1/model/model.rs"), None);
    }
}
