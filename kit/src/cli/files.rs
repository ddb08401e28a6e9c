//! Files that are complete or absent: written beside their place, then renamed.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Map, Value, json};

/// A file or folder in the making. It vanishes unless it is put into its place.
pub(super) struct Unfinished {
    pub(super) path: PathBuf,
    target: PathBuf,
}

impl Unfinished {
    /// A name that nobody else uses, in the same folder: a rename must not cross file systems.
    pub(super) fn new(target: &Path) -> Result<Self> {
        let name = target.file_name().with_context(|| format!("{}: expected a path that ends in a name", target.display()))?;
        let name = format!(".{}.{}.unfinished", name.to_string_lossy(), std::process::id());
        Ok(Self { path: target.with_file_name(name), target: target.to_owned() })
    }

    /// Puts it into its place. A file that was there is replaced.
    pub(super) fn finish(self) -> Result<()> {
        fs::rename(&self.path, &self.target).map_err(|e| cannot_be_written(&self.target, &e))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After `finish` nothing is there; before it, there is nobody to tell of a failure.
        let _ = if self.path.is_dir() { fs::remove_dir_all(&self.path) } else { fs::remove_file(&self.path) };
    }
}

/// Names the file that was asked for, not the one that is written first.
pub(super) fn cannot_be_written(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{}: cannot be written: {error}", path.display())
}

/// One tensor to be written.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
}

/// Writes a safetensors file front to back. `write_values(i, out)` appends the values of tensor `i`, row-major and
/// little-endian, `value_size` bytes each; nothing of them is kept.
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
        header.insert(name.clone(), json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, end] }));
    }
    let mut header = Value::Object(header).to_string();
    // The values begin at a multiple of 8, so that they can be read where they lie.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));

    let wrong = |e: &io::Error| cannot_be_written(path, e);
    let unfinished = Unfinished::new(path)?;
    let mut out = BufWriter::new(File::create(&unfinished.path).map_err(|e| wrong(&e))?);
    out.write_all(&(header.len() as u64).to_le_bytes()).map_err(|e| wrong(&e))?;
    out.write_all(header.as_bytes()).map_err(|e| wrong(&e))?;
    for i in 0..entries.len() {
        write_values(i, &mut out)?;
    }
    let file = out.into_inner().map_err(|e| wrong(e.error()))?;
    let (found, expected) = (file.metadata().map_err(|e| wrong(&e))?.len(), 8 + header.len() as u64 + end as u64);
    ensure!(found == expected, "{}: wrote {found} bytes, expected {expected}", path.display());
    file.sync_all().map_err(|e| wrong(&e))?;
    drop(file);
    unfinished.finish()
}
