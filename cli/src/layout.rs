//! `layout`: shows where the elements of a tensor are stored, at first and after each step.

use std::{fmt::Write as _, process::ExitCode, str::FromStr};

use anyhow::Result;
use tiny_llm_formats::gguf::TensorType;

use super::{Solution, WrongOption, output::Output};

#[derive(clap::Args)]
#[command(after_help = "A STEP is one of these:\n\
    \x20 transpose           swap axes 0 and 1\n\
    \x20 permute:AXES        axis i becomes axis AXES[i], for example permute:0,2,1,3\n\
    \x20 broadcast:SIZES     repeat axes of size 1, for example broadcast:5,4,1,1\n\
    \x20 view:SIZES:OFFSET   a part that begins at byte OFFSET, for example view:2,4,1,1:8\n\
    \x20 reshape:SIZES       for example reshape:8,1\n\
    \x20 contiguous          copy the elements into consecutive order\n\
    Axes are numbered as in ggml: axis 0 runs along a row.")]
pub(super) struct Args {
    /// Shape as in PyTorch, for example 4,2
    #[arg(value_name = "SHAPE")]
    shape: Shape,
    /// Views to apply, in order
    #[arg(value_name = "STEP")]
    steps: Vec<Step>,
    /// Element type, for example f32, f16, q8_0, q4_0 or q4_k
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    tensor_type: String,
}

#[derive(Clone)]
struct Shape(Vec<usize>);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        numbers(text).map(Self)
    }
}

/// Parses whole numbers separated by commas.
fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let numbers: Result<_, _> = text.split(',').map(str::parse).collect();
    numbers.map_err(|_| format!("found {text:?}, expected numbers separated by commas"))
}

/// A tensor, and the steps to apply to it.
#[derive(Debug, Clone)]
pub struct LayoutRequest {
    /// Element type.
    pub tensor_type: TensorType,
    /// Shape as in PyTorch.
    pub shape: Vec<usize>,
    /// Steps to apply, in order.
    pub steps: Vec<Step>,
}

/// A step that creates a view of a tensor or copies the tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Swaps axes 0 and 1.
    Transpose,
    /// Reorders the axes. Element `i` of this array is the new position of axis `i`.
    Permute([usize; 4]),
    /// Repeats each axis of size 1 until it has the size in this array.
    Broadcast([usize; 4]),
    /// Selects the part of the tensor that begins at this byte and has these sizes.
    View([usize; 4], usize),
    /// Changes the axes to these sizes. The elements and their order stay the same.
    Reshape(Vec<usize>),
    /// Copies the elements, so that they are consecutive.
    Contiguous,
}

/// A layout to draw.
#[derive(Debug, Clone)]
pub struct LayoutSeen {
    /// Number of elements along each axis.
    pub ne: [usize; 4],
    /// Strides in bytes.
    pub nb: [usize; 4],
    /// Whether the elements are consecutive.
    pub contiguous: bool,
    /// Byte offsets of the blocks of the first plane. There are at most [`WIDTH`] rows of at most
    /// [`WIDTH`] blocks.
    pub bytes: Vec<Vec<usize>>,
}

/// Maximum number of rows, and of blocks per row, that are drawn.
pub const WIDTH: usize = 12;

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let four = |text: &str| {
            let numbers = numbers(text)?;
            let n = numbers.len();
            <[usize; 4]>::try_from(numbers).map_err(|_| format!("found {n} numbers, expected 4"))
        };
        match (name, rest.is_empty()) {
            ("transpose", true) => Ok(Self::Transpose),
            ("contiguous", true) => Ok(Self::Contiguous),
            ("permute", false) => four(rest).map(Self::Permute),
            ("broadcast", false) => four(rest).map(Self::Broadcast),
            ("reshape", false) => numbers(rest).map(Self::Reshape),
            ("view", false) => {
                let (ne, offset) = rest.split_once(':').unwrap_or((rest, "0"));
                let offset = offset
                    .parse()
                    .map_err(|_| format!("found offset {offset:?}, expected a number of bytes"))?;
                Ok(Self::View(four(ne)?, offset))
            }
            _ => Err(format!(
                "found {text:?}, expected transpose, permute:…, broadcast:…, view:…, reshape:… or \
                 contiguous"
            )),
        }
    }
}

pub(super) fn run(solution: &Solution, args: Args) -> Result<ExitCode> {
    let named = |kind: &TensorType| kind.name().eq_ignore_ascii_case(&args.tensor_type);
    let tensor_type = TensorType::ALL.into_iter().find(named).ok_or_else(|| {
        WrongOption(format!(
            "--type: found {:?}, expected a tensor type such as f32, q8_0 or q4_k",
            args.tensor_type
        ))
    })?;
    let Args { shape: Shape(shape), steps, .. } = args;
    let mut text = String::new();
    let request = LayoutRequest { tensor_type, shape, steps };
    let names = request.steps.iter().map(|step| format!("{step:?}").to_lowercase());
    let first = format!("{tensor_type}, PyTorch's shape {:?}", request.shape);
    for (name, seen) in [first].into_iter().chain(names).zip((solution.layouts)(&request)?) {
        let whole = if seen.contiguous { "contiguous" } else { "not contiguous" };
        writeln!(text, "{name}\n  ne {:?}  nb {:?}  {whole}", seen.ne, seen.nb)?;
        for row in &seen.bytes {
            let cells: String = row.iter().map(|byte| format!("{byte:>6}")).collect();
            let more = if seen.ne[0] / tensor_type.block_len() > row.len() { " …" } else { "" };
            writeln!(text, "  {cells}{more}")?;
        }
        if seen.ne[1] > seen.bytes.len() {
            writeln!(text, "       …")?;
        }
    }
    Output::new().print(&text)?;
    Ok(ExitCode::SUCCESS)
}
