//! `layout`: where the elements of a tensor lie, before and after some views of it.

use std::{fmt::Write as _, process::ExitCode, str::FromStr};

use anyhow::Result;
use tiny_llm_formats::gguf::TensorType;

use super::{Solution, WrongOption, output::Output};

#[derive(clap::Args)]
#[command(
    after_help = "A STEP is transpose, permute:0,2,1,3 (axis i becomes the axis that stands at place i), broadcast:5,4,1,1, \
view:NE:OFFSET (as view:2,4,1,1:8, with the strides that are there), reshape:8,1 or contiguous. Axes are counted as ggml does: 0 is a row's."
)]
pub(super) struct Args {
    /// The shape as PyTorch writes it, as 4,2
    #[arg(value_name = "SHAPE")]
    shape: Shape,
    /// What to do to it, one after the other
    #[arg(value_name = "STEP")]
    steps: Vec<Step>,
    /// How elements are stored: f32, f16, q8_0, q4_0, q4_k …
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

/// Whole numbers with commas between them.
fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let numbers: Result<_, _> = text.split(',').map(str::parse).collect();
    numbers.map_err(|_| format!("found {text:?}, expected numbers with commas between them"))
}

/// A tensor, and what is done to it.
#[derive(Debug, Clone)]
pub struct LayoutRequest {
    /// How its elements are stored.
    pub tensor_type: TensorType,
    /// As PyTorch writes it.
    pub shape: Vec<usize>,
    /// One after the other.
    pub steps: Vec<Step>,
}

/// What can be done to a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Axes 0 and 1 change places.
    Transpose,
    /// Axis `i` becomes axis `axes[i]`.
    Permute([usize; 4]),
    /// Other sizes where there is one element.
    Broadcast([usize; 4]),
    /// So many elements along each axis, from this byte on.
    View([usize; 4], usize),
    /// Other sizes of the same elements.
    Reshape(Vec<usize>),
    /// A copy in which they lie one after the other.
    Contiguous,
}

/// A layout as it is drawn.
#[derive(Debug, Clone)]
pub struct LayoutSeen {
    /// Elements along each axis.
    pub ne: [usize; 4],
    /// Bytes from one to the next.
    pub nb: [usize; 4],
    /// Whether they lie one after the other.
    pub contiguous: bool,
    /// The byte of each block of the first plane: a list for each row, none longer than [`WIDTH`].
    pub bytes: Vec<Vec<usize>>,
}

/// Blocks of a row, and rows, that are drawn.
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
                let offset = offset.parse().map_err(|_| format!("found offset {offset:?}"))?;
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
        WrongOption(format!("--type: found {:?}, which is no type of a tensor", args.tensor_type))
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
