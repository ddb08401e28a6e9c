//! What the loop of `cargo course watch` hears.

use anyhow::Result;

use super::session::Key;
use crate::process::Finished;

/// One thing that was heard.
#[derive(Debug)]
pub(super) enum Input {
    /// A file under `src/` has changed.
    Changed,
    Key(Key),
    /// A build has come this far.
    Step {
        run: u64,
        step: String,
    },
    Finished {
        run: u64,
        finished: Result<Finished>,
    },
    /// Ctrl-C, or a signal that asks for the end.
    Interrupted,
}
