//! Finds the weight responsible for logits that are not numbers.

use std::path::Path;

use anyhow::{Result, anyhow};
use tiny_llm::week2::{gguf::Gguf, kernels::naive::decode_row, matrix::Matrix};
use tiny_llm_formats::checkpoint::Checkpoint;

/// Returns the error for a model whose logits are not finite.
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
