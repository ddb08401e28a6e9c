//! Checks logits for NaN and infinity. All weights are finite, because they were checked when the
//! model was loaded.

use std::path::Path;

use anyhow::{Result, anyhow, ensure};

/// Returns the error for NaN or infinite logits of the model at `model`.
pub(super) fn explained(model: &Path) -> anyhow::Error {
    anyhow!(
        "{}: found logits that are NaN or infinite though every weight is finite: a sum is too \
         large for f32",
        model.display()
    )
}

/// Checks that all logits are finite.
///
/// # Errors
/// If a logit is NaN or infinite.
pub(super) fn check(logits: &[f32], model: &Path) -> Result<()> {
    ensure!(logits.iter().all(|x| x.is_finite()), explained(model));
    Ok(())
}
