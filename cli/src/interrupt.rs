//! Ctrl-C and termination signals. While a [`Caught`] exists, the first signal only sets a flag,
//! and generation stops at the next token. The second signal removes incomplete files and ends the
//! program. If no [`Caught`] exists, the first signal already does so.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

/// The exit code that shells report after Ctrl-C: 128 + SIGINT.
const CODE: u8 = 130;

/// Whether a [`Caught`] exists. If none exists, Ctrl-C ends the program.
static CAUGHT: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the signal handler. If that fails, Ctrl-C keeps its default action.
pub(super) fn install() {
    let _ = ctrlc::set_handler(|| {
        if !CAUGHT.load(Ordering::SeqCst) || REQUESTED.swap(true, Ordering::SeqCst) {
            tiny_llm_formats::unfinished::remove_all();
            std::process::exit(CODE.into());
        }
    });
}

/// While this value exists, the first Ctrl-C only sets a flag. The second ends the program.
pub(super) struct Caught;

impl Caught {
    pub(super) fn new() -> Self {
        REQUESTED.store(false, Ordering::SeqCst);
        CAUGHT.store(true, Ordering::SeqCst);
        Self
    }

    /// Returns whether Ctrl-C was pressed.
    pub(super) fn requested(&self) -> bool {
        REQUESTED.load(Ordering::SeqCst)
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        CAUGHT.store(false, Ordering::SeqCst);
    }
}

/// Returns the exit code for an interrupted or a completed run.
pub(super) fn exit_code(interrupted: bool) -> ExitCode {
    if interrupted { ExitCode::from(CODE) } else { ExitCode::SUCCESS }
}
