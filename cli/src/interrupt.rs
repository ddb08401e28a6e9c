//! Ctrl-C, and the signals that ask a program to end: the first one ends what is running at the
//! next token, the second one ends the program. Files that are not complete go with it.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

/// What a shell reports for a program that Ctrl-C ended: 128 + SIGINT.
const CODE: u8 = 130;

/// Whether something runs that asks `requested` now and then. If not, Ctrl-C ends the program.
static CAUGHT: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Sets the handler. Where the system has none, Ctrl-C does what it does by default.
pub(super) fn install() {
    let _ = ctrlc::set_handler(|| {
        if !CAUGHT.load(Ordering::SeqCst) || REQUESTED.swap(true, Ordering::SeqCst) {
            tiny_llm_formats::unfinished::remove_all();
            std::process::exit(CODE.into());
        }
    });
}

/// While this lives, Ctrl-C is a request.
pub(super) struct Caught;

impl Caught {
    pub(super) fn new() -> Self {
        REQUESTED.store(false, Ordering::SeqCst);
        CAUGHT.store(true, Ordering::SeqCst);
        Self
    }

    /// Whether Ctrl-C was pressed.
    pub(super) fn requested(&self) -> bool {
        REQUESTED.load(Ordering::SeqCst)
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        CAUGHT.store(false, Ordering::SeqCst);
    }
}

/// The exit code of a program that was asked to end, or was not.
pub(super) fn exit_code(interrupted: bool) -> ExitCode {
    if interrupted { ExitCode::from(CODE) } else { ExitCode::SUCCESS }
}
