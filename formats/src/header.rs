//! The header of a safetensors file: which tensors the file holds, and where.
//!
//! A file has three parts: the length of the header (8 bytes), the header (JSON: the type, shape
//! and place of each tensor), and the values. Format: <https://github.com/huggingface/safetensors>.
//!
//! This module does not use the `safetensors` crate: its derive macros would more than double the
//! first day's build time, and its messages don't name the tensor.

use std::{collections::BTreeMap, ops::Range};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Map, Value};

/// The contents of a file's header.
#[derive(Debug)]
pub struct Header {
    /// The entry of each tensor, by the tensor's name.
    pub tensors: BTreeMap<String, Place>,
    /// The strings of `__metadata__`, by name.
    pub metadata: Map<String, Value>,
}

/// The entry of a tensor: its type, shape and position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The type of each value: `F32`, `BF16`, `I64`, …
    pub dtype: String,
    /// The size of each axis, the slowest axis first.
    pub shape: Vec<usize>,
    /// The range of the tensor's bytes, counted from the beginning of the file.
    pub bytes: Range<usize>,
}

impl Header {
    /// Reads the header from the bytes of a whole file. Checks that the tensors fill the rest of
    /// the file without gaps or overlaps.
    ///
    /// # Errors
    /// If the header is malformed. The message says which tensor, what was found and what was
    /// expected.
    pub fn read(file: &[u8]) -> Result<Self> {
        let Some((length, rest)) = file.split_first_chunk::<8>() else {
            bail!(
                "found {} bytes, expected at least 8: a safetensors file begins with the length of \
                 its header, in 8 bytes",
                file.len()
            );
        };
        let length = u64::from_le_bytes(*length);
        let Some((header, data)) =
            usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length))
        else {
            bail!(
                "found a header length of {length} bytes, but the whole file has {} bytes",
                file.len()
            );
        };
        let mut fields: BTreeMap<String, Value> = serde_json::from_slice(header)
            .map_err(|e| anyhow!("header: not a JSON object: {e}"))?;
        let metadata = match fields.remove("__metadata__") {
            None => Map::new(),
            Some(Value::Object(texts)) if texts.values().all(Value::is_string) => texts,
            Some(_) => bail!("__metadata__: expected a JSON object whose values are strings"),
        };
        let values = file.len() - data.len();
        let mut tensors = BTreeMap::new();
        for (name, info) in fields {
            let place = place(&info, data.len()).with_context(|| format!("tensor {name}"));
            let Place { dtype, shape, bytes } = place.map_err(|e| anyhow!("{e:#}"))?;
            let bytes = values + bytes.start..values + bytes.end;
            tensors.insert(name, Place { dtype, shape, bytes });
        }
        no_gaps(&tensors, values..file.len())?;
        Ok(Self { tensors, metadata })
    }
}

/// Reads a tensor's entry, such as `{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}`.
/// Offsets, including those in the result, count from the beginning of the values, which have
/// `length` bytes.
fn place(info: &Value, length: usize) -> Result<Place> {
    let field = |name: &str| info.get(name).with_context(|| format!("found no field {name:?}"));
    let sizes = |name: &str| -> Result<Vec<usize>> {
        let sizes = field(name)?.as_array().and_then(|list| {
            list.iter().map(|n| n.as_u64().and_then(|n| n.try_into().ok())).collect()
        });
        sizes.with_context(|| format!("{name}: found {}, expected a list of sizes", info[name]))
    };
    let dtype = field("dtype")?.as_str().context("dtype: expected a string")?.to_owned();
    let (shape, offsets) = (sizes("shape")?, sizes("data_offsets")?);
    let [start, end] = offsets[..] else {
        bail!("data_offsets: found {offsets:?}, expected two offsets")
    };
    let bits = bits(&dtype)
        .with_context(|| format!("dtype: found {dtype:?}, expected a safetensors type"))?;
    let bits = shape.iter().try_fold(bits, |bits: usize, &n| bits.checked_mul(n));
    let room = end.checked_sub(start);
    ensure!(
        room.is_some() && room == bits.filter(|bits| bits % 8 == 0).map(|bits| bits / 8),
        "found offsets {:?}, which do not fit {dtype} values of shape {shape:?}",
        (start, end)
    );
    ensure!(
        end <= length,
        "found offsets {:?}, but the file has only {length} bytes of values (is the file \
         truncated?)",
        (start, end)
    );
    Ok(Place { dtype, shape, bytes: start..end })
}

/// Returns the size of an element of this type, in bits. Returns `None` if safetensors has no such
/// type.
fn bits(dtype: &str) -> Option<usize> {
    Some(match dtype {
        "F4" => 4,
        "F6_E2M3" | "F6_E3M2" => 6,
        "BOOL" | "U8" | "I8" | "F8_E5M2" | "F8_E4M3" | "F8_E8M0" | "F8_E4M3FNUZ"
        | "F8_E5M2FNUZ" => 8,
        "U16" | "I16" | "F16" | "BF16" => 16,
        "U32" | "I32" | "F32" => 32,
        "U64" | "I64" | "F64" | "C64" => 64,
        _ => return None,
    })
}

/// Checks that the tensors fill the values one after the other, so that every byte belongs to
/// exactly one tensor.
fn no_gaps(tensors: &BTreeMap<String, Place>, values: Range<usize>) -> Result<()> {
    let mut places: Vec<(&Range<usize>, &String)> =
        tensors.iter().map(|(name, place)| (&place.bytes, name)).collect();
    places.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
    let mut end = values.start;
    for (bytes, name) in places {
        ensure!(
            bytes.start == end,
            "tensor {name}: found offset {}, expected {}, where the previous tensor ends",
            bytes.start - values.start,
            end - values.start
        );
        end = bytes.end;
    }
    ensure!(
        end == values.end,
        "found {} bytes of values, but the header describes {}",
        values.len(),
        end - values.start
    );
    Ok(())
}
