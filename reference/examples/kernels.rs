//! Measures the speed of the kernels, and compares it with the limits of this machine:
//! `cargo run --release -p tiny-llm-reference --features engine --example kernels -- [rung] [type…]`.
//!
//! Decode reads each weight byte once, so its limit is the memory bandwidth. Prefill uses each byte
//! for many tokens, so its limit is the rate of multiplications. Both are measured in short pieces.
//! The rates come from the 10th percentile of the times, since other programs may disturb some
//! pieces. The rates from the median are in brackets.

#![allow(
    unsafe_code,
    reason = "the highest rate of the processor is measured with its own instructions"
)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tiny_llm_formats::{bytes::Bytes, gguf::TensorType};
use tiny_llm_reference::week2::{
    input::{Input, SUPER_BLOCK},
    kernels::{Rung, matmul, quantize},
    matrix::Matrix,
    parallel::Team,
};

/// Bytes of weights, far more than any cache holds.
const BUFFER: usize = 512 << 20;
const TYPES: [TensorType; 6] = [
    TensorType::Q4_K,
    TensorType::Q8_0,
    TensorType::Q4_0,
    TensorType::Q5_0,
    TensorType::Q6_K,
    TensorType::Q5_K,
];

fn main() {
    let (rungs, types): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|name| name.parse::<Rung>().is_ok());
    let rung = rungs.first().map_or_else(Rung::best, |name| name.parse().expect("a rung"));
    let types: Vec<TensorType> = types.iter().map(|name| name.parse().expect("a type")).collect();
    let types = if types.is_empty() { TYPES.to_vec() } else { types };
    for threads in [1, 2] {
        let team = Team::new(threads);
        println!("\n{rung}, {threads} threads");
        if let Some(rate) = peak(&team) {
            println!("the highest rate of AVX-512 VNNI is {:.0} GOP/s", rate / 1e9);
        }
        if let Some(rate) = tiny_llm_kernels::peak::of_matrix_units(threads) {
            println!("the highest rate of the matrix unit is {:.0} GOP/s", rate / 1e9);
        }
        println!(
            "type       weights   decode GB/s of bandwidth (medians)  share     GOP/s, 8 \
             tokens        128 tokens        512 tokens"
        );
        for &tensor_type in &types {
            for (rows, cols) in [(2048, 2048), (2048, 5632), (2560, 960)] {
                if tensor_type.row_bytes(cols).is_some() {
                    print!("{:5} {:>12} ", tensor_type.to_string(), format!("{rows}×{cols}"));
                    decode(rung, &team, tensor_type, rows, cols);
                    for tokens in [8, 128, 512] {
                        prefill(rung, &team, tensor_type, rows, cols, tokens);
                    }
                    println!();
                }
            }
        }
    }
}

/// Returns blocks of random codes, with scales near 0.01.
fn blocks(tensor_type: TensorType, bytes: usize) -> Bytes {
    let mut state = 1u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes: Vec<u8> = (0..bytes / 8).flat_map(|_| random().to_le_bytes()).collect();
    for block in bytes.chunks_exact_mut(tensor_type.block_bytes()) {
        for &at in tensor_type.halves() {
            // The upper byte of an f16 between 0.008 and 0.03.
            block[at + 1] = 0x20 | block[at + 1] & 7;
        }
    }
    bytes.into()
}

fn decode(rung: Rung, team: &Team, tensor_type: TensorType, rows: usize, cols: usize) {
    let size = rows * tensor_type.row_bytes(cols).expect("whole blocks");
    let bytes = blocks(tensor_type, BUFFER);
    let matrices: Vec<Matrix> = (0..BUFFER / size)
        .map(|i| {
            Matrix::new(
                rows,
                cols,
                tensor_type,
                bytes.slice(i * size..(i + 1) * size).expect("a part"),
            )
            .expect("a matrix")
        })
        .collect();
    let x = input(rung, team, 1, cols);
    let x = x.with_int8(SUPER_BLOCK);
    let mut out = vec![0.0; rows];
    team.enter();
    let (mut products, mut reads) = (Vec::new(), Vec::new());
    for round in 0..4 {
        // Reads and products alternate, so that other load disturbs both equally.
        for (i, matrix) in matrices.iter().enumerate() {
            if (i + round) % 2 == 0 {
                reads.push(time(|| read(team, matrix.bytes())));
            } else {
                products.push(time(|| matmul(rung, team, matrix, x, &mut out)));
            }
        }
    }
    black_box(&out);
    let rate = |times: &mut Vec<Duration>, part: usize| {
        times.sort();
        size as f64 / times[times.len() * part / 100].as_secs_f64() / 1e9
    };
    let (best, median) = (rate(&mut products, 10), rate(&mut products, 50));
    let (best_read, median_read) = (rate(&mut reads, 10), rate(&mut reads, 50));
    print!(
        "{best:4.1} of {best_read:4.1} ({median:4.1} of {median_read:4.1}) {:4.0} %",
        100.0 * best / best_read
    );
}

fn prefill(
    rung: Rung,
    team: &Team,
    tensor_type: TensorType,
    rows: usize,
    cols: usize,
    tokens: usize,
) {
    let bytes = blocks(tensor_type, rows * tensor_type.row_bytes(cols).expect("whole blocks"));
    let matrix = Matrix::new(rows, cols, tensor_type, bytes).expect("a matrix");
    let x = input(rung, team, tokens, cols);
    let x = x.with_int8(SUPER_BLOCK);
    let mut out = vec![0.0; tokens * rows];
    team.enter();
    let mut times: Vec<Duration> = (0..8192 / tokens.max(64))
        .map(|_| time(|| matmul(rung, team, &matrix, x, &mut out)))
        .collect();
    black_box(&out);
    times.sort();
    let rate = |part: usize| {
        (2 * rows * cols * tokens) as f64 / times[times.len() * part / 100].as_secs_f64() / 1e9
    };
    print!(" {:6.0} ({:6.0})", rate(10), rate(50));
}

fn input(rung: Rung, team: &Team, tokens: usize, cols: usize) -> Input {
    let mut x = Input::default();
    x.resize(tokens, cols);
    for (i, x) in x.values.iter_mut().enumerate() {
        *x = (i as f32 * 0.37).sin();
    }
    // One scale per super-block, which the kernels of every type accept.
    let _ = quantize(rung, team, &mut x, SUPER_BLOCK);
    x
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Reads all bytes in eight tiles. Each tile is read as four streams.
fn read(team: &Team, bytes: &[u8]) {
    let part = bytes.len() / 32;
    let mut sums = [0u64; 8];
    team.parallel_tiles(&mut sums, 8, (1, 1), |tile| {
        let i = tile.cols().start;
        let streams: [&[[u8; 64]]; 4] =
            std::array::from_fn(|s| bytes[(4 * i + s) * part..][..part].as_chunks().0);
        let mut sum = [0u64; 8];
        for line in 0..streams[0].len() {
            for stream in streams {
                for (sum, eight) in sum.iter_mut().zip(stream[line].as_chunks().0) {
                    *sum ^= u64::from_le_bytes(*eight);
                }
            }
        }
        tile.row_mut(0)[0] = sum.iter().fold(0, |a, b| a ^ b);
    });
    black_box(sums);
}

/// Returns how many multiplications and additions of bytes all threads do per second with AVX-512
/// VNNI, or `None` if this processor lacks it.
fn peak(team: &Team) -> Option<f64> {
    if !Rung::Avx512Vnni.is_available() {
        return None;
    }
    const TURNS: usize = 20_000;
    let run = || {
        let mut sums = [0i32; 64];
        let threads = team.threads();
        team.parallel_tiles(&mut sums[..threads], threads, (1, 1), |tile| {
            tile.row_mut(0)[0] = multiply_bytes(TURNS);
        });
        black_box(sums);
    };
    team.enter();
    let best = (0..200).map(|_| time(run)).min().expect("some runs");
    Some((TURNS * 16 * 64 * 2 * team.threads()) as f64 / best.as_secs_f64())
}

#[cfg(target_arch = "x86_64")]
fn multiply_bytes(turns: usize) -> i32 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn run(turns: usize) -> i32 {
        let mut sums: [__m512i; 16] = std::array::from_fn(|i| _mm512_set1_epi32(i as i32));
        let x = black_box(_mm512_set1_epi8(3));
        for _ in 0..turns {
            for sum in &mut sums {
                *sum = _mm512_dpbusd_epi32(*sum, x, x);
            }
        }
        sums.into_iter().map(|sum| _mm512_reduce_add_epi32(sum)).fold(0, i32::wrapping_add)
    }
    // SAFETY: checked.
    if Rung::Avx512Vnni.is_available() { unsafe { run(turns) } } else { 0 }
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_bytes(_: usize) -> i32 {
    0
}
