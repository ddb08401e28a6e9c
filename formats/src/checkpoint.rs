//! Memory-mapped safetensors files.
//!
//! At first, only the header is read. The operating system loads the other pages when they are
//! accessed.

#![allow(unsafe_code, reason = "giving back the pages of a mapped file is unsafe")]

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::Range,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use anyhow::{Result, anyhow, bail, ensure};
use memmap2::Mmap;
pub use safetensors::Dtype;
use serde_json::Value;

use crate::{
    bytes::{Bytes, map_file},
    config::ModelConfig,
    gguf::TensorType,
    header::{Header, Place},
    json::read_json,
};

/// The tensors of a model folder: `model.safetensors`, or the files that
/// `model.safetensors.index.json` lists.
#[derive(Debug)]
pub struct Checkpoint {
    /// The file that lists the tensors, for error messages.
    listed_in: PathBuf,
    shards: Vec<Shard>,
    /// For each tensor's name, the index of the shard that holds the tensor.
    place: BTreeMap<String, usize>,
}

/// A tensor as stored in the file. The bytes may start at an unaligned address, so decode each
/// value from its bytes.
pub struct StoredTensor<'a> {
    /// The tensor's name in the checkpoint.
    pub name: &'a str,
    /// Type of each value.
    pub dtype: Dtype,
    /// The size of each axis, the slowest axis first.
    pub shape: &'a [usize],
    /// The values, row-major and little-endian.
    pub bytes: &'a [u8],
}

impl Checkpoint {
    /// Maps the safetensors files of a model folder and checks their headers. No value is read.
    ///
    /// # Errors
    /// If a file is missing or malformed, or differs from what the index says. The message is one
    /// line: the file, the tensor, what was found and what was expected.
    pub fn open(folder: &Path) -> Result<Self> {
        let single = folder.join("model.safetensors");
        if single.exists() {
            let shard = Shard::open(single.clone())?;
            let place = shard.tensors.keys().map(|name| (name.clone(), 0)).collect();
            return Ok(Self { listed_in: single, shards: vec![shard], place });
        }
        let index = folder.join("model.safetensors.index.json");
        ensure!(
            index.exists(),
            "{}: found neither model.safetensors nor model.safetensors.index.json, expected one of \
             them",
            folder.display()
        );
        Self::open_sharded(folder, index)
    }

    fn open_sharded(folder: &Path, index: PathBuf) -> Result<Self> {
        let name = index.display();
        let map = weight_map(&index)?;
        let mut shards = Vec::new();
        let mut number_of = HashMap::new();
        let mut place = BTreeMap::new();
        for (tensor, file) in map {
            let shard = match number_of.get(&file) {
                Some(&shard) => shard,
                None => {
                    shards.push(Shard::open(folder.join(&file))?);
                    number_of.insert(file.clone(), shards.len() - 1);
                    shards.len() - 1
                }
            };
            ensure!(
                shards[shard].tensors.contains_key(&tensor),
                "{name}: tensor {tensor}: found file {file}, expected a file that contains this \
                 tensor"
            );
            place.insert(tensor, shard);
        }
        Ok(Self { listed_in: index, shards, place })
    }

    /// Returns the tensor of this name, if it has this shape.
    ///
    /// First releases the pages of tensors that were read earlier from the same file. So if a model
    /// is converted tensor by tensor, memory never holds the whole file in addition to the
    /// converted weights. Earlier `StoredTensor`s stay valid: their pages are loaded again when
    /// they are accessed.
    ///
    /// # Errors
    /// If there is no such tensor (the message lists the closest names), or it has a different
    /// shape.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        let (shard, name, info) = self.find(name, shape)?;
        shard.give_back_pages();
        let bytes = &shard.map[info.bytes.clone()];
        Ok(StoredTensor { name, dtype: info.dtype, shape: &info.shape, bytes })
    }

    /// Returns the type and the bytes of a tensor. The file stays mapped as long as the bytes
    /// exist.
    ///
    /// # Errors
    /// Returns the errors of [`Checkpoint::tensor`].
    pub fn bytes(&self, name: &str, shape: &[usize]) -> Result<(Dtype, Bytes)> {
        let (shard, _, info) = self.find(name, shape)?;
        let file: Arc<Mmap> = Arc::clone(&shard.map);
        Ok((info.dtype, Bytes::of(file).slice(info.bytes.clone())?))
    }

    /// Checks that the checkpoint has all tensors of the model that `config` describes. It may also
    /// have tensors of two harmless kinds. Any other tensor means that the model computes something
    /// that this engine doesn't. Without this check, that tensor would be silently ignored.
    ///
    /// # Errors
    /// If a tensor is missing, has a different shape, or does not belong to the model. The message
    /// names it.
    pub fn check_names(&self, config: &ModelConfig) -> Result<()> {
        let mut known = HashSet::new();
        for (name, shape) in config.tensors() {
            self.find(&name, &shape)?;
            known.insert(name);
        }
        // Two kinds of extra tensors are harmless: a copy of the embedding as the output head, and
        // RoPE's frequencies in old files, which follow from the configuration.
        let harmless =
            |name: &str| name == "lm_head.weight" || name.ends_with(".rotary_emb.inv_freq");
        match self.place.keys().find(|name| !known.contains(*name) && !harmless(name)) {
            None => Ok(()),
            Some(name) => bail!(
                "{}: found tensor {name}, which the model in config.json ({:?}, {} layers) doesn't \
                 have",
                self.listed_in.display(),
                config.family,
                config.n_layers
            ),
        }
    }

    /// Returns name, type, shape and number of bytes of every tensor, sorted by name.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, Dtype, &[usize], usize)> {
        self.place.iter().map(|(name, &shard)| {
            let info = &self.shards[shard].tensors[name];
            (name.as_str(), info.dtype, info.shape.as_slice(), info.bytes.len())
        })
    }

    /// Checks that no weight is NaN or infinite. Reads every weight, and releases the pages of each
    /// tensor afterwards.
    ///
    /// # Errors
    /// If a weight is NaN or infinite. The message names the tensor and the weight's position in
    /// it.
    pub fn check_finite(&self) -> Result<()> {
        for (name, &shard) in &self.place {
            let shard = &self.shards[shard];
            let Info { dtype, shape, bytes } = &shard.tensors[name];
            let bytes = &shard.map[bytes.clone()];
            let found = match dtype {
                Dtype::F32 => TensorType::F32.first_not_finite(bytes),
                Dtype::F16 => TensorType::F16.first_not_finite(bytes),
                Dtype::BF16 => TensorType::BF16.first_not_finite(bytes),
                _ => None, // These models don't use other types.
            };
            if let Some(mut at) = found {
                let mut place: Vec<usize> =
                    shape.iter().rev().map(|&n| (at % n, at /= n).0).collect();
                place.reverse();
                bail!(
                    "{}: tensor {name}: found NaN or infinity at {place:?}, expected finite weights",
                    shard.path.display()
                );
            }
            shard.give_back_pages();
        }
        Ok(())
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<(&Shard, &str, &Info)> {
        let Some((name, &shard)) = self.place.get_key_value(name) else {
            bail!(
                "{}: tensor {name}: not found; the closest names are {}",
                self.listed_in.display(),
                self.closest(name).join(", ")
            );
        };
        let shard = &self.shards[shard];
        let info = &shard.tensors[name];
        ensure!(
            info.shape == shape,
            "{}: tensor {name}: found shape {:?}, expected {shape:?} from config.json",
            shard.path.display(),
            info.shape
        );
        Ok((shard, name, info))
    }

    /// Returns the names of up to three tensors, those with the smallest edit distance to `name`.
    fn closest(&self, name: &str) -> Vec<&str> {
        let mut names: Vec<_> =
            self.place.keys().map(|other| (edits(name, other), other.as_str())).collect();
        names.sort();
        names.into_iter().take(3).map(|(_, other)| other).collect()
    }
}

/// One mapped file and its parsed header.
#[derive(Debug)]
struct Shard {
    path: PathBuf,
    map: Arc<Mmap>,
    tensors: BTreeMap<String, Info>,
}

/// The entry of a tensor in a file's header.
#[derive(Debug)]
struct Info {
    dtype: Dtype,
    shape: Vec<usize>,
    /// Range of the tensor's bytes in the file.
    bytes: Range<usize>,
}

impl Shard {
    fn open(path: PathBuf) -> Result<Self> {
        let map = map_file(&path)?;
        let tensors = Header::read(&map).and_then(tensors);
        let tensors = tensors.map_err(|e| anyhow!("{}: {e}", path.display()))?;
        Ok(Self { tensors, map: Arc::new(map), path })
    }

    /// Tells the operating system that no page of the map is needed at present. On a system without
    /// such a call, the pages stay in memory until the system needs the memory.
    fn give_back_pages(&self) {
        #[cfg(unix)]
        // SAFETY: this advice can lose only changes to private pages. The map is shared and
        // read-only, so a page that is accessed again is read from the file again, with the same
        // contents. If the call fails, nothing changes.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
}

/// Converts the entries of a header: parses the name of each tensor's type.
fn tensors(header: Header) -> Result<BTreeMap<String, Info>> {
    let info = |(name, place): (String, Place)| {
        let Place { dtype, shape, bytes } = place;
        let dtype = serde_json::from_value(Value::String(dtype));
        let dtype = dtype.map_err(|e| anyhow!("tensor {name}: {e}"))?;
        Ok((name, Info { dtype, shape, bytes }))
    };
    header.tensors.into_iter().map(info).collect()
}

/// Returns the names of the files that an index (`model.safetensors.index.json`) lists.
///
/// # Errors
/// If the index is malformed. The message is one line: the tensor, what was found and what was
/// expected.
pub fn shards(index: &Path) -> Result<BTreeSet<String>> {
    Ok(weight_map(index)?.into_values().collect())
}

/// Reads an index file. Returns the name of the file that holds each tensor, by the tensor's name.
fn weight_map(index: &Path) -> Result<BTreeMap<String, String>> {
    let name = index.display();
    let Some(Value::Object(map)) = read_json(index)?.get_mut("weight_map").map(Value::take) else {
        bail!("{name}: field \"weight_map\": expected an object that maps each tensor to its file");
    };
    map.into_iter()
        .map(|(tensor, file)| match file {
            Value::String(file) if is_plain_name(&file) => Ok((tensor, file)),
            Value::String(file) => bail!(
                "{name}: tensor {tensor}: found file {file:?}, expected the name of a .safetensors \
                 file in the same folder"
            ),
            _ => bail!("{name}: tensor {tensor}: found {file}, expected a file name"),
        })
        .collect()
}

/// Returns whether `file` is a plain file name that ends in `.safetensors`. An index must not name
/// files outside its folder.
fn is_plain_name(file: &str) -> bool {
    let mut parts = Path::new(file).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == file)
        && !file.contains(['/', '\\', ':'])
        && file.ends_with(".safetensors")
}

/// Returns the minimum number of letters to insert, delete or replace to turn `a` into `b`
/// (Levenshtein 1966).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
