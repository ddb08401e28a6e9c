//! The inputs of the loop of `cargo course watch`.

use anyhow::Result;

use super::session::Key;
use crate::process::Finished;

/// An input: a changed file, a key, progress of a build, the end of a run, or a signal.
#[derive(Debug)]
pub(super) enum Input {
    /// A file under `src/` has changed.
    Changed,
    Key(Key),
    /// A build has made progress.
    Step {
        run: u64,
        step: String,
    },
    Finished {
        run: u64,
        finished: Result<Finished>,
    },
    /// Ctrl-C, or a termination signal.
    Interrupted,
}
