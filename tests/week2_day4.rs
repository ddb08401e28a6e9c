//! Week 2, day 4: K-quants in Q4_K and Q6_K, the search for scale and minimum, what a converter
//! decides, writing GGUF.
//!
//! Expected values: `python-ref/oracle/week2_day4.py`.

use tiny_llm::week2::blocks::q4_k;
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::fixtures::{Case, Fixtures};

#[path = "week2_day4/drawn.rs"]
mod drawn;
#[path = "week2_day4/task_1.rs"]
mod task_1;
#[path = "week2_day4/task_2.rs"]
mod task_2;
#[path = "week2_day4/task_3.rs"]
mod task_3;
#[path = "week2_day4/task_4.rs"]
mod task_4;
#[path = "week2_day4/task_5.rs"]
mod task_5;
#[path = "week2_day4/task_6.rs"]
mod task_6;

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day4")
}

/// Returns an input of a case as arrays of `N` bytes.
fn bytes<const N: usize>(case: &Case, name: &str) -> Vec<[u8; N]> {
    let bytes: Vec<u8> =
        case.integers(name).iter().map(|&byte| u8::try_from(byte).expect("a byte")).collect();
    let (pieces, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "the fixture holds whole pieces");
    pieces.to_vec()
}

/// Returns the rows of a tensor `[n, N]` as arrays.
fn rows<const N: usize>(x: &Tensor) -> Vec<[f32; N]> {
    x.outer_iter()
        .map(|row| row.iter().copied().collect::<Vec<_>>().try_into().expect("N values in a row"))
        .collect()
}

fn of_bytes<'a>(shape: &[usize], bytes: impl IntoIterator<Item = &'a u8>) -> Tensor {
    tensor(shape, bytes.into_iter().map(|&byte| f32::from(byte)).collect())
}

/// Dequantizes the blocks of a case, and compares the weights. Unwritten weights stay NaN.
#[track_caller]
fn check_dequantize<const BYTES: usize>(
    case: &str,
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 256]),
) {
    let case = fixtures().case(case);
    let blocks = bytes::<BYTES>(&case, "blocks");
    let mut weights = Vec::new();
    for block in &blocks {
        let mut out = [f32::NAN; 256];
        dequantize(block, &mut out);
        weights.extend(out);
    }
    case.check("weights", &tensor(&[blocks.len(), 256], weights));
}

/// Checks that the quantization error of a case's weights is at most 2 % larger than that of
/// llama.cpp's quantizer.
#[track_caller]
fn check_errors<const BYTES: usize>(
    case: &str,
    quantize: impl Fn(&[f32; 256]) -> [u8; BYTES],
    decode: impl Fn(&[u8; BYTES]) -> [f32; 256],
) {
    let case = fixtures().case(case);
    let kinds: Vec<String> = case.read("kinds");
    let recorded = case.tensor("error");
    let lines = kinds.into_iter().zip(&recorded).map(|(kind, &recorded)| {
        let x = case.tensor(&kind);
        let back: Vec<f32> =
            rows::<256>(&x).iter().flat_map(|row| decode(&quantize(row))).collect();
        let found = relative_error_of(&x, &back);
        (
            found <= 1.02 * recorded,
            format!("\n  {kind:<12} {:8.4} %  {:8.4} %", 100.0 * found, 100.0 * recorded),
        )
    });
    let (good, lines): (Vec<_>, Vec<_>) = lines.unzip();
    assert!(
        good.into_iter().all(|good| good),
        "the quantization error is too large, expected at most 2 % more than llama.cpp's\n  \
         weights         found  llama.cpp{}",
        lines.concat()
    );
}

/// Returns the relative error, computed here so that day 3 is not needed.
fn relative_error_of(x: &Tensor, y: &[f32]) -> f32 {
    let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
    let difference = squares(&mut x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)));
    (difference / squares(&mut x.iter().map(|&x| f64::from(x)))).sqrt() as f32
}

#[track_caller]
fn check_scales(fixtures: &Fixtures) {
    let case = fixtures.case("task_1_scales/distinct");
    let found: Vec<_> =
        bytes::<12>(&case, "packed").iter().map(q4_k::scales_and_minimums).collect();
    let shape = [found.len(), 8];
    case.check("scales", &of_bytes(&shape, found.iter().flat_map(|(scales, _)| scales)));
    case.check("minimums", &of_bytes(&shape, found.iter().flat_map(|(_, minimums)| minimums)));
}

/// Checks that no other integer comes closer to weight `i`, with the scales as `stored`.
#[track_caller]
fn is_nearest(stored: &str, i: usize, [x, back]: [f32; 2], scale: f32, ends: [f32; 2]) {
    let reached = x.clamp(ends[0].min(ends[1]), ends[0].max(ends[1]));
    let steps = (reached - back).abs() / scale.abs();
    let why = if steps > 1.5 {
        "rounding cannot explain this: check the signs, the clamp, and the byte and half where the \
         integer is stored"
            .to_owned()
    } else {
        format!(
            "round the integers to the nearest instead of truncating, and compute them with \
             {stored} as stored, after rounding"
        )
    };
    assert!(
        scale == 0.0 || steps <= 0.501,
        "weight {i}: {x} came back as {back}, {steps:.3} steps away, but another integer is at \
         most half a step away\n  {why}"
    );
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day4.rs"]
mod fresh;
