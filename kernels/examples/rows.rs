//! Measures how fast this crate's kernels multiply 1 to 16 rows of activations. For each format and
//! number of rows, prints the weights read in GB/s and the arithmetic in GOP/s.
//!
//! `cargo run --release -p tiny-llm-kernels --example rows -- [THREADS [TYPE …]]`
//!
//! The weights are 96 MB, more than a cache holds. If `SMALL` is set, they are 2 MB, which measures
//! arithmetic only. If `REPACK` is set, they are repacked, as with the option `--repack`. Each
//! figure is the median of seven rounds. Each round measures every number of rows once.

use std::{hint::black_box, time::Instant};

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::{
    MANY,
    input::{Input, SUPER_BLOCK},
    matrix::Matrix,
    parallel::{InOrder, Team},
    provided, repack,
    rung::Rung,
};

const ROWS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
const COLS: usize = 2048;
const TYPES: [TensorType; 4] =
    [TensorType::Q4_0, TensorType::Q8_0, TensorType::Q4_K, TensorType::Q6_K];

/// Creates a matrix of about `megabytes` MB, with random codes and small scales.
fn matrix(tensor_type: TensorType, megabytes: usize) -> Matrix {
    let rows = megabytes * 1_000_000 / tensor_type.row_bytes(COLS).expect("whole blocks");
    let rows = rows.next_multiple_of(64);
    let mut state = 1u64;
    let mut bytes = vec![0u8; rows * tensor_type.row_bytes(COLS).expect("whole blocks")];
    for byte in &mut bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *byte = (state >> 56) as u8;
    }
    for block in bytes.chunks_exact_mut(tensor_type.block_bytes()) {
        tensor_type.halves().iter().for_each(|&at| block[at + 1] = 0x1c);
    }
    Matrix::new(rows, COLS, tensor_type, bytes.into()).expect("whole rows")
}

#[allow(unsafe_code, reason = "calls kernels")]
fn seconds(rung: Rung, team: &Team<InOrder>, weight: &Matrix, x: &Input, out: &mut [f32]) -> f64 {
    let kernel = provided::repacked(rung, weight, x.rows)
        .or_else(|| provided::kernel(rung, weight.tensor_type, x.rows))
        .expect("a kernel");
    let grain = if x.rows < MANY { 256 } else { 128 };
    let begun = Instant::now();
    team.parallel_tiles(out, weight.rows, (x.rows, grain), |tile| {
        // SAFETY: this machine has the instructions of the rung.
        unsafe { kernel(weight, x, tile) }
    });
    black_box(out);
    begun.elapsed().as_secs_f64()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let threads = arguments.next().map_or(1, |n| n.parse().expect("a number of threads"));
    let named: Vec<String> = arguments.collect();
    let small = std::env::var_os("SMALL").is_some();
    let team = Team::<InOrder>::new(threads);
    let rung = Rung::best();
    println!("{rung}, {threads} threads: GB/s of weights, GOP/s");
    println!("{:>6} {}", "rows", ROWS.map(|n| format!("{n:>12}")).join(""));
    for tensor_type in TYPES {
        if !named.is_empty() && !named.contains(&tensor_type.to_string()) {
            continue;
        }
        let weight = matrix(tensor_type, if small { 2 } else { 96 });
        if std::env::var_os("REPACK").is_some() {
            repack::repack(&team, &[&weight], |_| rung).expect("enough memory");
        }
        let inputs = ROWS.map(|rows| {
            let mut x = Input::default();
            x.resize(rows, COLS);
            for (i, value) in x.values.iter_mut().enumerate() {
                *value = (i as f32 * 0.7).sin();
            }
            let per_scale = if tensor_type.block_len() == SUPER_BLOCK { SUPER_BLOCK } else { 32 };
            assert!(provided::quantize(rung, &team, &mut x, per_scale), "a rung of integers");
            x
        });
        let mut out = vec![0.0; 16 * weight.rows];
        let mut times = ROWS.map(|_| Vec::new());
        for round in 0..8 {
            for ((x, times), rows) in inputs.iter().zip(&mut times).zip(ROWS) {
                let out = &mut out[..rows * weight.rows];
                let repeats = if small { 20 } else { 1 };
                let best = (0..repeats).map(|_| seconds(rung, &team, &weight, x, out));
                let best = best.fold(f64::INFINITY, f64::min);
                if round > 0 {
                    times.push(best);
                }
            }
        }
        let mut line = String::new();
        for (times, rows) in times.iter_mut().zip(ROWS) {
            times.sort_by(f64::total_cmp);
            let seconds = times[times.len() / 2];
            let operations = 2.0 * (weight.rows * COLS * rows) as f64;
            line += &format!(
                "{:>6.1}{:>6.0}",
                weight.bytes().len() as f64 / seconds / 1e9,
                operations / seconds / 1e9
            );
        }
        println!("{tensor_type:>6} {line}");
    }
}
