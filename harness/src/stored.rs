//! A file of `tests/fixtures`: tensors and JSON metadata.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tiny_llm_formats::{
    Tensor,
    header::{Header, Place},
    tensor::tensor,
};

/// A safetensors file in memory.
pub(crate) struct Stored {
    /// Name of the file, such as `week1_day1`.
    pub(crate) name: String,
    header: Header,
    bytes: Vec<u8>,
}

impl Stored {
    /// Opens `tests/fixtures/NAME.safetensors`.
    ///
    /// # Panics
    /// If the file is missing or is not a safetensors file. (The repository is then incomplete.)
    pub(crate) fn open(name: &str) -> Self {
        let path = path(name);
        let bytes = std::fs::read(&path)
            .unwrap_or_else(|e| panic!("cannot read the fixtures {}: {e}", path.display()));
        Self::parse(name, bytes)
    }

    /// Like [`Stored::open`], but returns `None` if there is no such file.
    pub(crate) fn open_if_there(name: &str) -> Option<Self> {
        std::fs::read(path(name)).ok().map(|bytes| Self::parse(name, bytes))
    }

    fn parse(name: &str, bytes: Vec<u8>) -> Self {
        let header =
            Header::read(&bytes).unwrap_or_else(|e| panic!("{}: {e:#}", path(name).display()));
        Self { name: name.to_owned(), header, bytes }
    }

    /// Returns the JSON of the metadata entry with this name, if present.
    pub(crate) fn about(&self, name: &str) -> Option<Value> {
        let json = self.header.metadata.get(name)?.as_str()?;
        Some(
            serde_json::from_str(json)
                .unwrap_or_else(|e| panic!("{}: metadata of {name}: {e}", self.name)),
        )
    }

    /// Returns the names of all metadata entries.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.header.metadata.keys()
    }

    /// Returns the f32 tensor with this full name, if present.
    pub(crate) fn f32s(&self, name: &str) -> Option<Tensor> {
        let (place, bytes) = self.tensor(name)?;
        assert_eq!(place.dtype, "F32", "{name}: data type");
        let values =
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        Some(tensor(&place.shape, values))
    }

    /// Returns a tensor's entry in the header, and its bytes.
    pub(crate) fn tensor(&self, name: &str) -> Option<(&Place, &[u8])> {
        let place = self.header.tensors.get(name)?;
        Some((place, &self.bytes[place.bytes.clone()]))
    }
}

fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of the repository");
    root.join("tests/fixtures").join(format!("{name}.safetensors"))
}
