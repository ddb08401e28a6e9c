//! `inspect`: shows the contents of a GGUF file or a model folder.

use std::{collections::BTreeMap, fmt::Write, process::ExitCode};

use anyhow::Result;

mod folder;

use super::{
    Solution,
    options::{Located, located, threads},
    output::Output,
};
use tiny_llm_formats::gguf::{Array, Metadata, TensorInfo, TensorType, Value};

/// Maximum number of characters of a text that are shown.
const TEXT: usize = 100;
const ELEMENTS: usize = 6;

#[derive(clap::Args)]
#[command(
    after_help = "Shapes are printed as in PyTorch: a matrix is [rows, columns], one row per output element.\n\
              A GGUF file stores shapes in the opposite order. Long strings and arrays are shortened."
)]
pub(super) struct Args {
    /// GGUF file, model folder or name
    #[arg(value_name = "MODEL", value_parser = located())]
    model: Located,
    /// Measure memory bandwidth, and print the maximum decode speed that it allows
    #[arg(long)]
    roofline: bool,
    /// Threads used for the measurement [default: one per physical core]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, requires = "roofline")]
    threads: Option<usize>,
}

/// The limit that memory bandwidth sets on decode speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roofline {
    /// Number of bytes of weights that decoding a token reads.
    pub bytes: u64,
    /// Number of threads measured.
    pub threads: usize,
    /// Bytes per second that these threads read from memory.
    pub bandwidth: f64,
    /// Maximum tokens per second.
    pub tokens_per_second: f64,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let path = &args.model.path;
    let (head, tensors) = if path.is_dir() {
        (folder::fields(path)?, folder::tensors(path)?)
    } else {
        let (metadata, tensors) = (solution.inspect)(path)?;
        (entries(&metadata), tensors)
    };
    let mut text = format!("{head}\n{}\n{}", table(&tensors), totals(&tensors));
    if args.roofline {
        let Roofline { bytes, threads, bandwidth, tokens_per_second } =
            (solution.roofline)(&tensors, args.threads);
        let s = if threads == 1 { "" } else { "s" };
        let _ = writeln!(
            text,
            "\n\
             decoding a token reads {bytes} bytes of weights\n\
             {threads} thread{s} can read {:.1} GB/s: at most {tokens_per_second:.1} tokens/s",
            bandwidth / 1e9
        );
    }
    Output::new().print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a line for each key of the metadata.
fn entries(metadata: &Metadata) -> String {
    let lines: Vec<_> =
        metadata.iter().map(|(key, value)| (escaped(key, TEXT), shown(value))).collect();
    let width = lines.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    lines.iter().fold(String::new(), |mut text, (key, value)| {
        let _ = writeln!(text, "{key:<width$}  {value}");
        text
    })
}

/// Returns a line for each tensor, in file order.
fn table(tensors: &[TensorInfo]) -> String {
    let rows: Vec<[String; 4]> = tensors
        .iter()
        .map(|t| {
            [
                escaped(&t.name, TEXT),
                t.tensor_type.to_string(),
                format!("{:?}", t.shape),
                t.size.to_string(),
            ]
        })
        .collect();
    let head = ["tensor", "type", "shape", "bytes"].map(str::to_owned);
    let widths: [usize; 4] = std::array::from_fn(|i| {
        rows.iter().chain([&head]).map(|row| row[i].chars().count()).max().unwrap_or(0)
    });
    [head].iter().chain(&rows).fold(String::new(), |mut text, [name, tensor_type, shape, bytes]| {
        let [a, b, c, d] = widths;
        let _ = writeln!(text, "{name:<a$}  {tensor_type:<b$}  {shape:<c$}  {bytes:>d$}");
        text
    })
}

/// Returns a line for each type, and one for the total.
fn totals(tensors: &[TensorInfo]) -> String {
    let mut types: BTreeMap<TensorType, Total> = BTreeMap::new();
    let mut all = Total::default();
    for tensor in tensors {
        types.entry(tensor.tensor_type).or_default().add(tensor);
        all.add(tensor);
    }
    let mut text = String::new();
    for (name, total) in
        types.iter().map(|(tensor_type, total)| (tensor_type.name(), total)).chain([("all", &all)])
    {
        let Total { tensors, weights, bytes } = total;
        let bits = if *weights > 0 {
            format!(", {:.3} bits per weight", 8.0 * *bytes as f64 / *weights as f64)
        } else {
            String::new()
        };
        let s = if *tensors == 1 { "" } else { "s" };
        let _ = writeln!(
            text,
            "{name:<4}  {tensors} tensor{s}, {weights} weights, {bytes} bytes{bits}"
        );
    }
    text
}

#[derive(Default)]
struct Total {
    tensors: usize,
    weights: u128,
    bytes: u128,
}

impl Total {
    fn add(&mut self, tensor: &TensorInfo) {
        self.tensors += 1;
        self.weights += tensor.shape.iter().map(|&n| n as u128).product::<u128>();
        self.bytes += tensor.size as u128;
    }
}

/// Formats a value on one line.
fn shown(value: &Value) -> String {
    match value {
        Value::U8(x) => x.to_string(),
        Value::I8(x) => x.to_string(),
        Value::U16(x) => x.to_string(),
        Value::I16(x) => x.to_string(),
        Value::U32(x) => x.to_string(),
        Value::I32(x) => x.to_string(),
        Value::F32(x) => format!("{x:?}"),
        Value::Bool(x) => x.to_string(),
        Value::String(text) => format!("\"{}\"", escaped(text, TEXT)),
        Value::Array(array) => elements(array),
        Value::U64(x) => x.to_string(),
        Value::I64(x) => x.to_string(),
        Value::F64(x) => format!("{x:?}"),
    }
}

/// Describes an array: length, element type and first elements.
fn elements(array: &Array) -> String {
    fn list<T>(name: &str, values: &[T], show: impl Fn(&T) -> String) -> String {
        let mut shown: Vec<_> = values.iter().take(ELEMENTS).map(show).collect();
        if values.len() > ELEMENTS {
            shown.push("…".to_owned());
        }
        format!("{} × {name} [{}]", values.len(), shown.join(", "))
    }
    match array {
        Array::U8(v) => list("u8", v, u8::to_string),
        Array::I8(v) => list("i8", v, i8::to_string),
        Array::U16(v) => list("u16", v, u16::to_string),
        Array::I16(v) => list("i16", v, i16::to_string),
        Array::U32(v) => list("u32", v, u32::to_string),
        Array::I32(v) => list("i32", v, i32::to_string),
        Array::F32(v) => list("f32", v, |x| format!("{x:?}")),
        Array::Bool(v) => list("bool", v, bool::to_string),
        Array::String(v) => {
            list("string", v, |text| format!("\"{}\"", escaped(text, TEXT / ELEMENTS)))
        }
        Array::U64(v) => list("u64", v, u64::to_string),
        Array::I64(v) => list("i64", v, i64::to_string),
        Array::F64(v) => list("f64", v, |x| format!("{x:?}")),
    }
}

/// Returns the beginning of `text`. Escapes control characters, backslashes and double quotes.
fn escaped(text: &str, length: usize) -> String {
    let mut shown = String::new();
    for c in text.chars().take(length) {
        if c == '\'' { shown.push(c) } else { shown.extend(c.escape_debug()) }
    }
    if text.chars().nth(length).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_metadata_tensors_and_totals() {
        let mut metadata = Metadata::new("x.gguf");
        metadata.insert("general.name", Value::String("it's \u{1b}[31m\n\"b\"".to_owned()));
        metadata.insert("n", Value::Array(Array::U32((0..9).collect())));
        metadata.insert("x", Value::F32(10000.0));
        assert_eq!(
            entries(&metadata),
            "general.name  \"it's \\u{1b}[31m\\n\\\"b\\\"\"\n\
             n             9 × u32 [0, 1, 2, 3, 4, 5, …]\n\
             x             10000.0\n"
        );
        let tensor = |name: &str, shape: &[usize], tensor_type, size| TensorInfo {
            name: name.to_owned(),
            shape: shape.to_vec(),
            tensor_type,
            offset: 0,
            size,
        };
        let tensors = [
            tensor("a.weight", &[3, 32], TensorType::Q8_0, 102),
            tensor("b", &[8], TensorType::F32, 32),
        ];
        assert_eq!(
            table(&tensors),
            "tensor    type  shape    bytes\n\
             a.weight  Q8_0  [3, 32]    102\n\
             b         F32   [8]         32\n"
        );
        assert_eq!(
            totals(&tensors),
            "F32   1 tensor, 8 weights, 32 bytes, 32.000 bits per weight\n\
             Q8_0  1 tensor, 96 weights, 102 bytes, 8.500 bits per weight\n\
             all   2 tensors, 104 weights, 134 bytes, 10.308 bits per weight\n"
        );
        assert_eq!(totals(&[]), "all   0 tensors, 0 weights, 0 bytes\n");
    }
}
