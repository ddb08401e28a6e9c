//! Parses the list of a file's tensors, as `inspect` prints it, and computes how far its weights
//! are from those of another file.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use anyhow::{Context, Result, ensure};

use super::Engine;

/// A file's tensors, in order.
#[derive(Debug)]
pub(super) struct Table(Vec<Tensor>);

#[derive(Debug)]
struct Tensor {
    name: String,
    tensor_type: String,
    shape: Vec<usize>,
    bytes: u64,
}

impl Tensor {
    fn weights(&self) -> usize {
        self.shape.iter().product()
    }

    fn is_matrix(&self) -> bool {
        self.shape.len() == 2
    }
}

impl Table {
    pub(super) fn of(engine: &Engine, file: &Path) -> Result<Self> {
        Self::parse(&engine.run(&["inspect", &file.to_string_lossy()])?)
    }

    /// Parses the tensors in the output of `inspect`, after the line that begins with `tensor ` and
    /// before an empty line. Each line has a name, a type, `[rows, columns]`, and bytes.
    fn parse(text: &str) -> Result<Self> {
        let lines = text
            .lines()
            .skip_while(|line| !line.starts_with("tensor "))
            .skip(1)
            .take_while(|line| !line.is_empty());
        let tensors = lines
            .map(|line| tensor(line).with_context(|| format!("`inspect` printed {line:?}")))
            .collect::<Result<Vec<_>>>()?;
        ensure!(!tensors.is_empty(), "`inspect` printed no tensors");
        Ok(Self(tensors))
    }

    /// Returns the number of transformer blocks.
    pub(super) fn layers(&self) -> usize {
        let number = |tensor: &Tensor| {
            tensor.name.strip_prefix("blk.")?.split('.').next()?.parse::<usize>().ok()
        };
        self.0.iter().filter_map(number).max().map_or(0, |last| last + 1)
    }

    /// Returns the number of bits per weight, including vectors.
    pub(super) fn bits_per_weight(&self) -> f64 {
        8.0 * self.0.iter().map(|t| t.bytes).sum::<u64>() as f64
            / self.0.iter().map(Tensor::weights).sum::<usize>() as f64
    }

    /// Formats the types of the matrices: `31 Q4_K, 5 Q6_K`.
    pub(super) fn types(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tensor in self.0.iter().filter(|tensor| tensor.is_matrix()) {
            *counts.entry(&tensor.tensor_type).or_default() += 1;
        }
        counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    }
}

fn tensor(line: &str) -> Option<Tensor> {
    let (head, rest) = line.split_once('[')?;
    let (shape, bytes) = rest.split_once(']')?;
    let (name, tensor_type) = head.trim().split_once(' ')?;
    Some(Tensor {
        name: name.to_owned(),
        tensor_type: tensor_type.trim().to_owned(),
        shape: shape.split(", ").map(|n| n.parse().ok()).collect::<Option<_>>()?,
        bytes: bytes.trim().parse().ok()?,
    })
}

/// Returns the root mean square of the differences between the matrices of two F32 files, divided
/// by the root mean square of the first file's weights. Both files must contain the tensors of
/// `table`. Vectors are ignored, because they are never quantized.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn relative_error(table: &Table, original: &Path, other: &Path) -> Result<f64> {
    let data: u64 = table.0.iter().map(|t| t.bytes.next_multiple_of(ALIGNMENT)).sum();
    let open = |path: &Path| -> Result<BufReader<File>> {
        let mut file =
            File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        // The tensors are at the end of the file.
        file.seek(SeekFrom::End(-i64::try_from(data)?))
            .with_context(|| format!("{} is too short", path.display()))?;
        Ok(BufReader::new(file))
    };
    let (mut original, mut other) = (open(original)?, open(other)?);
    let (mut difference, mut magnitude) = (0.0, 0.0);
    for tensor in &table.0 {
        let next = |file: &mut BufReader<File>| -> Result<Vec<u8>> {
            let mut bytes = vec![0; usize::try_from(tensor.bytes.next_multiple_of(ALIGNMENT))?];
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        let (x, y) = (next(&mut original)?, next(&mut other)?);
        if tensor.is_matrix() {
            for (x, y) in x.chunks_exact(4).zip(y.chunks_exact(4)).take(tensor.weights()) {
                let [x, y] = [x, y].map(|bytes| {
                    f64::from(f32::from_le_bytes(bytes.try_into().expect("four of them")))
                });
                difference += (x - y).powi(2);
                magnitude += x * x;
            }
        }
    }
    Ok((difference / magnitude).sqrt())
}

/// Alignment of each tensor in the files that `quantize` writes.
const ALIGNMENT: u64 = 32;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const INSPECTED: &str = "general.name  \"x\"\n\n\
                             tensor                type  shape     bytes\n\
                             token_embd.weight     F32   [2, 3]       24\n\
                             blk.0.attn_norm.weight  F32   [3]          12\n\
                             blk.1.attn_q.weight  F32   [1, 8]       32\n\n\
                             F32   3 tensors, 17 weights, 68 bytes, 32.000 bits per weight\n";

    #[test]
    fn parses_a_table() {
        let table = Table::parse(INSPECTED).unwrap();
        assert_eq!(
            (table.layers(), table.types().as_str(), table.bits_per_weight()),
            (2, "2 F32", 32.0)
        );
        assert!(
            Table::parse("error").is_err()
                && Table::parse("tensor  type\na  F32  [x]  1\n").is_err()
        );
    }

    #[test]
    fn relative_error_ignores_vectors() {
        let folder = tempfile::tempdir().unwrap();
        // After a header of any length: 6 weights and 8 bytes of padding, then 3 weights and 20
        // bytes, then 8 weights.
        let write = |name: &str, head: usize, weight: f32, norm: f32, fill: u8| {
            let floats = |x: f32, n: usize| x.to_le_bytes().repeat(n);
            let bytes = [
                vec![9; head],
                floats(weight, 6),
                vec![fill; 8],
                floats(norm, 3),
                vec![fill; 20],
                floats(2.0, 8),
            ]
            .concat();
            fs::write(folder.path().join(name), bytes).unwrap();
            folder.path().join(name)
        };
        let (original, other) = (write("a", 7, 3.0, 1.0, 0), write("b", 30, 4.0, 5.0, 63));
        let table = Table::parse(INSPECTED).unwrap();
        let error = relative_error(&table, &original, &other).unwrap();
        assert!((error - (6.0f64 / (6.0 * 9.0 + 8.0 * 4.0)).sqrt()).abs() < 1e-12, "{error}");
        fs::write(folder.path().join("c"), [0; 9]).unwrap();
        assert!(relative_error(&table, &original, &folder.path().join("c")).is_err());
    }
}
