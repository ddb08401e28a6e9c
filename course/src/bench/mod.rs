//! `cargo course bench`: what the engine does in a second on this machine, week by week.

use std::path::Path;

use anyhow::{Result, bail};

mod week1;

/// A week's name and what measures it.
type Bench = (&'static str, fn(&Path) -> Result<()>);

/// Every week that has something to measure.
const BENCHES: [Bench; 1] = [("week1", week1::bench)];

/// Measures a week, named as `week1`.
///
/// # Errors
/// If there is no such week, with the names that there are; or what the measurement itself finds.
pub(crate) fn bench(root: &Path, week: &str) -> Result<()> {
    let Some((_, bench)) = BENCHES.iter().find(|(name, _)| *name == week) else {
        let names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
        bail!("there is nothing to measure for {week:?}; expected {}", names.join(" or "));
    };
    bench(root)
}
