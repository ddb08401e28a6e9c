//! The files of known wrong answers that the tests read: one safetensors file per day, like the
//! fixtures.
//!
//! Tensors are named `0`, `1`, and so on. For each check, the metadata has
//! `{"answers": [{"tensor": "0", "says": …, "read": …}]}`. If an answer is a text, it has `"text"`
//! instead of `"tensor"`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::{
    Wrong,
    answers::{Answer, Answered},
};

/// Folder of the files, relative to the repository.
pub(super) const FOLDER: &str = "tests/fixtures/wrong";

/// The wrong answers of one file by check, each with its diagnosis and where to read about it.
/// Equal answers with equal diagnoses are stored once.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<String, Vec<(Answer, String, String)>>);

impl Answers {
    /// Adds a wrong answer, unless there is already an equal answer with the same diagnosis. Also
    /// leaves out answers whose elements are all the same number, because many mistakes produce
    /// only NaN or 0.
    pub(super) fn add(&mut self, answer: &Answer, wrong: &Wrong) {
        if answer.is_constant() {
            return;
        }
        let known = self.0.entry(answer.what.clone()).or_default();
        if !known.iter().any(|(other, says, _)| *says == wrong.says && other.equals(answer)) {
            known.push((answer.clone(), wrong.says.clone(), wrong.read.clone()));
        }
    }

    /// Formats the answers as a safetensors file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let (mut header, mut metadata, mut data) = (Map::new(), Map::new(), Vec::new());
        for (what, answers) in &self.0 {
            let mut list = Vec::new();
            for (answer, says, read) in answers {
                let mut entry = json!({ "says": says, "read": read });
                match &answer.value {
                    Answered::Text(text) => entry["text"] = text.as_str().into(),
                    Answered::Tensor { shape, values, .. } => {
                        let (name, begin) = (header.len().to_string(), data.len());
                        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                        entry["tensor"] = name.as_str().into();
                        header.insert(name, json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()] }));
                    }
                }
                list.push(entry);
            }
            metadata.insert(what.clone(), json!({ "answers": list }).to_string().into());
        }
        header.insert("__metadata__".to_owned(), Value::Object(metadata));
        let mut header = Value::Object(header).to_string();
        // Tensors begin at a multiple of 8.
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.into_bytes());
        bytes.extend(data);
        bytes
    }

    /// Returns whether the file at `path` contains exactly these answers, except for rounding.
    pub(super) fn are_in(&self, path: &Path) -> bool {
        self.stale(path).is_ok_and(|difference| difference.is_none())
    }

    /// Reads a file, and returns its first difference from these answers. Ignores differences due
    /// to rounding.
    ///
    /// # Errors
    /// If the file is missing or malformed.
    fn stale(&self, path: &Path) -> Result<Option<String>> {
        let old = read(path)?;
        let new = read_bytes(&self.bytes()).context("the file just written cannot be read")?;
        for (what, answers) in &new {
            let Some(before) = old.get(what) else {
                return Ok(Some(format!("{what} has no recorded answers yet")));
            };
            if answers.len() != before.len() {
                return Ok(Some(format!(
                    "{what} has {} recorded answers, but this run gave {}",
                    before.len(),
                    answers.len()
                )));
            }
            for (n, ((says, a), (said, b))) in answers.iter().zip(before).enumerate() {
                if says != said || !same(a, b) {
                    return Ok(Some(format!(
                        "answer {n} of {what} differs from the recorded one: {says}"
                    )));
                }
            }
        }
        Ok(old
            .keys()
            .find(|what| !new.contains_key(*what))
            .map(|what| format!("{what} has recorded answers, but this run gave none")))
    }
}

/// A diagnosis and its wrong answer: a tensor's shape and elements, or a text as `Err`.
type Said = (String, Result<(Vec<u64>, Vec<f32>), String>);

/// Returns whether two answers are equal within a tolerance. Other machines round differently, and
/// a wrong body may amplify the difference.
fn same(
    a: &Result<(Vec<u64>, Vec<f32>), String>,
    b: &Result<(Vec<u64>, Vec<f32>), String>,
) -> bool {
    match (a, b) {
        (Ok((shape_a, a)), Ok((shape_b, b))) => {
            let largest = a.iter().filter(|v| v.is_finite()).fold(0.0f32, |m, v| m.max(v.abs()));
            let close = |x: f32, y: f32| {
                x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-4 * largest
            };
            shape_a == shape_b && a.iter().zip(b).all(|(&x, &y)| close(x, y))
        }
        (Err(a), Err(b)) => a == b,
        _ => false,
    }
}

fn read(path: &Path) -> Result<BTreeMap<String, Vec<Said>>> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    read_bytes(&bytes).with_context(|| format!("{} is malformed", path.display()))
}

fn read_bytes(bytes: &[u8]) -> Result<BTreeMap<String, Vec<Said>>> {
    let (length, rest) = bytes.split_first_chunk().context("no header")?;
    let (header, data) = rest
        .split_at_checked(usize::try_from(u64::from_le_bytes(*length))?)
        .context("the header is cut off")?;
    let header: Value = serde_json::from_slice(header)?;
    let tensor = |name: &str| -> Option<(Vec<u64>, Vec<f32>)> {
        let entry = &header[name];
        let sizes = |field: &str| -> Option<Vec<u64>> {
            entry[field].as_array()?.iter().map(Value::as_u64).collect()
        };
        let [begin, end] = sizes("data_offsets")?[..] else { return None };
        let bytes = data.get(usize::try_from(begin).ok()?..usize::try_from(end).ok()?)?;
        Some((
            sizes("shape")?,
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
        ))
    };
    let mut all = BTreeMap::new();
    for (what, json) in header["__metadata__"].as_object().context("no __metadata__")? {
        let about: Value = serde_json::from_str(
            json.as_str().context("a value of __metadata__ is not a string")?,
        )?;
        let mut answers = Vec::new();
        for answer in about["answers"].as_array().context("no answers")? {
            let says = answer["says"].as_str().context("an answer has no \"says\"")?.to_owned();
            let value = match answer["text"].as_str() {
                Some(text) => Err(text.to_owned()),
                None => Ok(answer["tensor"]
                    .as_str()
                    .and_then(tensor)
                    .context("an answer has neither \"text\" nor a tensor of the file")?),
            };
            answers.push((says, value));
        }
        all.insert(what.clone(), answers);
    }
    Ok(all)
}

/// Returns the path in `root` of each file, with its answers. `days` has them by the file's name.
pub(super) fn files<'a>(
    root: &Path,
    days: &'a BTreeMap<String, Answers>,
) -> Vec<(PathBuf, &'a Answers)> {
    days.iter()
        .map(|(module, answers)| (root.join(FOLDER).join(format!("{module}.safetensors")), answers))
        .collect()
}

/// Returns the committed files that differ from the bank's current answers, each with its first
/// difference.
pub(super) fn stale(root: &Path, days: &BTreeMap<String, Answers>) -> Vec<String> {
    let problem = |(path, answers): (PathBuf, &Answers)| match answers.stale(&path) {
        Ok(None) => None,
        Ok(Some(difference)) => Some(format!("{}: {difference}", path.display())),
        Err(error) => Some(format!("{error:#}")),
    };
    files(root, days).into_iter().filter_map(problem).collect()
}
