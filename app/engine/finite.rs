//! Logits that are no numbers: noticed where they are made, and told with the weight that they come
//! from. Without this an engine would go on, and write junk or nothing.

use std::{cell::Cell, ops::ControlFlow, path::Path};

use anyhow::{Result, anyhow};
use tiny_llm::week2::{gguf::Gguf, kernels::naive::decode_row, matrix::Matrix};
use tiny_llm_formats::{FinishReason, checkpoint::Checkpoint};

/// Looks at all logits of a generation.
#[derive(Default)]
pub(super) struct Watch {
    broken: Cell<bool>,
}

impl Watch {
    /// Chooses a token from logits, if they are numbers. Nobody can choose otherwise: the token
    /// that stands in for it is not passed on.
    pub(super) fn choose(&self, logits: &[f32], choose: impl FnOnce() -> u32) -> u32 {
        if logits.iter().all(|x| x.is_finite()) {
            choose()
        } else {
            self.broken.set(true);
            0
        }
    }

    /// Passes a token on, unless it was chosen from what is no number.
    pub(super) fn pass_on(
        &self,
        token: u32,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.broken.get() { ControlFlow::Break(()) } else { on_token(token) }
    }

    /// How the generation ended.
    ///
    /// # Errors
    /// If logits were no numbers; the message names the first such weight of the model's files.
    pub(super) fn end(&self, reason: FinishReason, model: &Path) -> Result<FinishReason> {
        if self.broken.get() { Err(explained(model)) } else { Ok(reason) }
    }
}

/// What is wrong with a model whose logits are not finite.
pub(super) fn explained(model: &Path) -> anyhow::Error {
    let name = model.display();
    match first_not_finite(model) {
        Ok(Some((tensor, place, found))) => anyhow!(
            "{name}: tensor {tensor}: found {found} at {place:?}, expected finite weights; the \
             logits are no numbers"
        ),
        Ok(None) => anyhow!(
            "{name}: found logits that are no numbers, though every weight is finite: some sum is \
             too large for f32"
        ),
        Err(error) => error,
    }
}

fn first_not_finite(model: &Path) -> Result<Option<(String, Vec<usize>, f32)>> {
    if model.is_dir() {
        let checkpoint = Checkpoint::open(model)?;
        let found = checkpoint.first_not_finite();
        return Ok(found.map(|(tensor, place, x)| (tensor.to_owned(), place, x)));
    }
    let gguf = Gguf::open(model)?;
    for info in &gguf.tensors {
        let cols = info.shape.last().copied().unwrap_or(1);
        let rows = info.shape.iter().rev().skip(1).product();
        let matrix = Matrix::new(rows, cols, info.tensor_type, gguf.bytes_of(info))?;
        let mut values = vec![0.0; cols];
        for r in 0..rows {
            decode_row(&matrix, r, &mut values);
            if let Some(c) = values.iter().position(|x| !x.is_finite()) {
                return Ok(Some((info.name.clone(), vec![r, c], values[c])));
            }
        }
    }
    Ok(None)
}
