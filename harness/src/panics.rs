//! Delays the messages of panics that a test expects or examines.
//!
//! Rust prints every panic immediately, even if it is caught. If a test provokes a panic and fails
//! later, the location of the wrong panic would be shown first. So panics within [`catch`] are
//! recorded, and printed only if they are resumed.

use std::{
    any::Any,
    backtrace::{Backtrace, BacktraceStatus},
    cell::RefCell,
    panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind},
    sync::Once,
};

thread_local! {
    /// The latest panic of each active [`catch`] of this thread.
    static SEEN: RefCell<Vec<Option<(String, Backtrace)>>> = const { RefCell::new(Vec::new()) };
}

/// A caught panic.
pub struct Panic {
    payload: Box<dyn Any + Send>,
    /// Location, such as `src/week1/attention/attention.rs:39:5`. Empty if unknown.
    pub place: String,
    backtrace: Option<Backtrace>,
}

impl Panic {
    /// Returns the panic's message.
    #[must_use]
    pub fn message(&self) -> &str {
        message(&*self.payload)
    }

    /// Returns whether the panic is a task's `todo!`.
    #[must_use]
    pub fn is_todo(&self) -> bool {
        self.message().starts_with("not yet implemented")
    }

    /// Resumes the panic. An outer [`catch`], if any, receives it. Otherwise it is printed first,
    /// as Rust would have done.
    pub fn go_on(self) -> ! {
        if SEEN.with_borrow(|seen| !seen.is_empty()) {
            let backtrace = self.backtrace.unwrap_or_else(Backtrace::disabled);
            SEEN.with_borrow_mut(|seen| {
                if let Some(last) = seen.last_mut() {
                    *last = Some((self.place, backtrace));
                }
            });
            resume_unwind(self.payload);
        }
        let name = std::thread::current().name().unwrap_or("unnamed").to_owned();
        eprintln!("\nthread '{name}' panicked at {}:\n{}", self.place, self.message());
        if let Some(meaning) = meaning(self.message()) {
            eprintln!("  diagnosis {meaning}");
        }
        if let Some(backtrace) = &self.backtrace {
            eprintln!("stack backtrace:\n{backtrace}");
        }
        resume_unwind(self.payload)
    }
}

/// Runs `action`, and returns its result or its panic. Prints nothing if it panics.
///
/// # Errors
/// If `action` panics. The error is the panic.
pub fn catch<T>(action: impl FnOnce() -> T) -> Result<T, Panic> {
    install();
    SEEN.with_borrow_mut(|seen| seen.push(None));
    let result = catch_unwind(AssertUnwindSafe(action));
    let seen = SEEN.with_borrow_mut(Vec::pop).flatten();
    result.map_err(|payload| {
        let (place, backtrace) = seen.unzip();
        let captured = |backtrace: &Backtrace| backtrace.status() == BacktraceStatus::Captured;
        Panic { payload, place: place.unwrap_or_default(), backtrace: backtrace.filter(captured) }
    })
}

/// Installs a panic hook that is silent within [`catch`] and explains some of Rust's own panics.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let kept =
                SEEN.with_borrow_mut(|seen| seen.last_mut().map(|last| *last = Some(of(info))));
            if kept.is_none() {
                before(info);
                if let Some(meaning) = meaning(message(info.payload())) {
                    eprintln!("  diagnosis {meaning}");
                }
            }
        }));
    });
}

fn of(info: &PanicHookInfo<'_>) -> (String, Backtrace) {
    let place = info.location().map(ToString::to_string);
    (place.unwrap_or_default(), Backtrace::capture())
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Explains the message of a panic of Rust's arithmetic. Returns `None` for other messages.
#[must_use]
pub(crate) fn meaning(message: &str) -> Option<&'static str> {
    Some(match message {
        "attempt to add with overflow" | "attempt to multiply with overflow" => {
            "An integer overflowed its type. Convert to a wider type before the operation, with \
             i32::from(x) or i64::from(x). If the value may be as large as its type allows, \
             compare without adding, or use `checked_add` and `checked_mul`."
        }
        "attempt to subtract with overflow" => {
            "A difference fell below the smallest value of its type, which is 0 for an unsigned \
             type. Compare first, or subtract in a signed type that is wide enough."
        }
        "attempt to shift left with overflow" | "attempt to shift right with overflow" => {
            "A number was shifted by at least as many bits as its type has. Convert to a wider \
             type first, with u32::from(x)."
        }
        "attempt to negate with overflow" => {
            "The smallest value of a signed type has no positive counterpart. Convert to a wider \
             type first."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catch_returns_the_message_and_the_location() {
        let panic = catch(|| panic!("on {}", "purpose")).expect_err("it panicked");
        assert_eq!(panic.message(), "on purpose");
        assert!(panic.place.contains("panics.rs:"), "{}", panic.place);
        assert!(!panic.is_todo() && catch(|| 1).is_ok_and(|one| one == 1));
    }

    #[test]
    fn nested_catches_keep_their_own_panics() {
        let outer = catch(|| {
            let inner = catch(|| panic!("inner")).expect_err("it panicked");
            assert_eq!(inner.message(), "inner");
            panic!("outer")
        });
        assert_eq!(outer.expect_err("it panicked").message(), "outer");
        let through = catch(|| catch(|| panic!("inner")).unwrap_or_else(|panic| panic.go_on()));
        let through: Panic = through.expect_err("it panicked");
        assert!(through.message() == "inner" && through.place.contains("panics.rs:"));
    }
}
