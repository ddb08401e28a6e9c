//! Day 2. GGUF files: one file with everything that a model needs.
//!
//! A file has four parts, in this order: a header, metadata (keys and values: sizes, vocabulary,
//! chat template), a table of tensors, and the tensors' data. This module doesn't read the data: a
//! tensor is a range of a mapped file. Format:
//! <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

use std::{collections::HashMap, path::Path};

use anyhow::{Result, anyhow, ensure};
use tiny_llm_formats::{
    bytes::Bytes,
    gguf::{Metadata, TensorInfo},
};

use crate::week2::gguf::reader::{Reader, shown};
use crate::week2::gguf::{metadata, table};

/// A GGUF file in which every length, count and offset has been checked.
#[derive(Debug, Clone)]
pub struct Gguf {
    /// Keys and values of the metadata.
    pub metadata: Metadata,
    /// The tensor table, in the file's order.
    pub tensors: Vec<TensorInfo>,
    /// Offset in the file at which the data section begins.
    pub data_start: usize,
    by_name: HashMap<String, usize>,
    file: Bytes,
}

impl Gguf {
    /// Maps a file and reads everything except the tensors' data.
    ///
    /// # Errors
    /// If the file can't be read. Also returns the errors of [`Gguf::parse`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::parse(Bytes::map(path)?, &path.display().to_string())
    }

    /// Reads a file that is in memory or mapped. `file` is the file's name in error messages.
    /// Allocates at most about ten bytes for each byte that it reads, even if the counts in the
    /// file are too large.
    ///
    /// # Errors
    /// If the file is malformed. The message is one line: the file, the field, the value found and
    /// the value expected.
    pub fn parse(bytes: Bytes, file: &str) -> Result<Self> {
        let mut reader = Reader::new(&bytes, file);
        let header = reader.header()?;
        let metadata = metadata::read_metadata(&mut reader, header.metadata, file)?;
        let alignment = table::alignment(&metadata)?;
        let tensors = table::read_tensors(&mut reader, header.tensors)?;
        let mut by_name = HashMap::with_capacity(tensors.len());
        for (i, tensor) in tensors.iter().enumerate() {
            let new = by_name.insert(tensor.name.clone(), i).is_none();
            ensure!(
                new,
                "{file}: tensor {}: found this name twice, expected every name once",
                shown(&tensor.name)
            );
        }
        let end = reader.position();
        let data_start = table::data_start(end, alignment).ok_or_else(|| {
            metadata.wrong(
                "general.alignment",
                "an alignment at which this machine can address the data",
            )
        })?;
        // If no tensor has data, the padding after the table may be missing.
        table::check_places(&tensors, alignment, bytes.len().saturating_sub(data_start), file)?;
        Ok(Self { metadata, tensors, data_start, by_name, file: bytes })
    }

    /// Returns the tensor called `name`. Returns `None` if the file has no such tensor.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.by_name.get(name).map(|&i| &self.tensors[i])
    }

    /// Returns the tensor called `name`.
    ///
    /// # Errors
    /// If the file has no such tensor.
    pub fn required(&self, name: &str) -> Result<&TensorInfo> {
        self.tensor(name)
            .ok_or_else(|| anyhow!("{}: tensor {name} is missing", self.metadata.file()))
    }

    /// Returns the data of one of the file's tensors. Nothing is copied. The file stays mapped as
    /// long as the returned bytes exist.
    ///
    /// # Panics
    /// If the tensor's range is outside this file. This means that the tensor belongs to another
    /// file.
    #[must_use]
    pub fn bytes_of(&self, tensor: &TensorInfo) -> Bytes {
        self.file.slice(table::place(tensor, self.data_start)).unwrap_or_else(|error| {
            panic!("the places of this file's tensors were checked, but {error:#}")
        })
    }
}
