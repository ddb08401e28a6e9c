//! Files that are either complete or absent: each is written under a temporary name, then renamed.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use anyhow::{Result, ensure};
use serde_json::{Map, Value, json};

use tiny_llm_formats::unfinished::named;
pub(super) use tiny_llm_formats::unfinished::{Unfinished, cannot_be_written};

/// Checks that a file may be written at `output`. With `force`, it may replace a file.
pub(super) fn check_output(output: &Path, force: bool) -> Result<()> {
    ensure!(
        force || output.symlink_metadata().is_err(),
        "{}: already exists; --force replaces a file",
        output.display()
    );
    ensure!(!output.is_dir(), "{}: found a folder, expected the name of a file", output.display());
    Ok(())
}

/// A tensor to write.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
}

/// Writes a safetensors file front to back. `write_values(i, out)` appends the values of tensor
/// `i`, row-major and little-endian, `value_size` bytes each. The file is never in memory as a
/// whole.
pub(super) fn write_safetensors(
    path: &Path,
    dtype: &str,
    value_size: usize,
    entries: &[Entry],
    mut write_values: impl FnMut(usize, &mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    let mut header = Map::new();
    let mut end = 0;
    for Entry { name, shape } in entries {
        let start = end;
        end += value_size * shape.iter().product::<usize>();
        header.insert(
            name.clone(),
            json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, end] }),
        );
    }
    let mut header = Value::Object(header).to_string();
    // The values begin at a multiple of 8, so they can be used in place.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));

    let wrong = |e: &io::Error| cannot_be_written(path, e);
    let unfinished = Unfinished::new(path)?;
    let mut out = BufWriter::new(File::create(unfinished.path()).map_err(|e| wrong(&e))?);
    out.write_all(&(header.len() as u64).to_le_bytes()).map_err(|e| wrong(&e))?;
    out.write_all(header.as_bytes()).map_err(|e| wrong(&e))?;
    for i in 0..entries.len() {
        write_values(i, &mut out).map_err(|e| named(path, e))?;
    }
    let file = out.into_inner().map_err(|e| wrong(e.error()))?;
    let (found, expected) =
        (file.metadata().map_err(|e| wrong(&e))?.len(), 8 + header.len() as u64 + end as u64);
    ensure!(found == expected, "{}: wrote {found} bytes, expected {expected}", path.display());
    file.sync_all().map_err(|e| wrong(&e))?;
    drop(file);
    unfinished.finish()
}
