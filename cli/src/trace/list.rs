//! A file of activations: a safetensors file that stores the activations in the order in which the
//! model computes them.

use std::{fs, io::Write, path::Path};

use anyhow::{Context, Result, anyhow, ensure};
use safetensors::{Dtype, SafeTensors};

use crate::files::{Entry, cannot_be_written, write_safetensors};
use tiny_llm_formats::Tensor;

/// One activation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    /// Values in row-major order.
    pub(super) values: Vec<f32>,
}

impl Recorded {
    pub(super) fn new(name: &str, value: &Tensor) -> Self {
        Self {
            name: name.to_owned(),
            shape: value.shape().to_vec(),
            values: value.iter().copied().collect(),
        }
    }
}

/// Writes the whole list. If that fails, writes no file.
pub(super) fn write(path: &Path, list: &[Recorded]) -> Result<()> {
    let entries: Vec<_> =
        list.iter().map(|r| Entry { name: r.name.clone(), shape: r.shape.clone() }).collect();
    write_safetensors(path, "F32", 4, &entries, |i, out| {
        list[i]
            .values
            .iter()
            .try_for_each(|x| out.write_all(&x.to_le_bytes()))
            .map_err(|e| cannot_be_written(path, &e))
    })
}

/// Reads a file written by [`write`].
pub(super) fn read(path: &Path) -> Result<Vec<Recorded>> {
    let bytes = fs::read(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let malformed = |error| anyhow!("{}: not a list of activations: {error}", path.display());
    let file = SafeTensors::deserialize(&bytes).map_err(malformed)?;
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(malformed)?;
    let read = |name: String| {
        let stored = file.tensor(&name).map_err(malformed)?;
        ensure!(
            stored.dtype() == Dtype::F32,
            "{}: {name}: found {:?}, expected F32",
            path.display(),
            stored.dtype()
        );
        let (numbers, _) = stored.data().as_chunks::<4>();
        let values = numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        Ok(Recorded { shape: stored.shape().to_vec(), name, values })
    };
    header.offset_keys().into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiny_llm_formats::tensor::{swap_axes, tensor};

    #[test]
    fn read_returns_the_list_that_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.safetensors");
        let list = [
            Recorded::new("z", &tensor(&[2, 1], vec![0.5, f32::NEG_INFINITY])),
            Recorded::new("a", &swap_axes(&tensor(&[2, 2], vec![1.0, 2.0, 3.0, 4.0]), 0, 1)),
        ];
        write(&path, &list).unwrap();
        assert_eq!(read(&path).unwrap(), list);
        assert_eq!(list[1].values, [1.0, 3.0, 2.0, 4.0]);
        fs::write(&path, "five!").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("list.safetensors: not a list of activations"), "{error}");
    }
}
