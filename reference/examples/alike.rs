//! Measures the cost of batch invariance. The kernels of a batch add in the same order for any
//! number of rows. The kernels of a single sequence may add in any order.
//! `cargo run --release -p tiny-llm-reference --features engine --example alike -- [rung…] [type…]`.
//!
//! Measures both kernels in turns, on matrices that together don't fit in any cache. Each ratio is
//! the median of all pairs. `same` after a ratio means that both kernels give the same bits.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_reference::week2::{
    input::{BLOCK, Input},
    kernels::{Rung, matmul, matmul_alike, quantize},
    matrix::Matrix,
    parallel::Team,
};

#[path = "../tests/parts/random_blocks.rs"]
mod random_blocks;
use random_blocks::{Random, matrix};

/// Shape of TinyLlama's query projection. Its copies have `BYTES` bytes in total.
const SHAPE: (usize, usize) = (2048, 2048);
const BYTES: usize = 96 << 20;
/// Numbers of activation rows.
const ROWS: [usize; 3] = [1, 4, 16];
/// Time limit for one cell of the table, which also takes at least eight pairs of measurements.
const TIME: Duration = Duration::from_millis(700);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = |name: String| words.is_empty() || words.contains(&name.to_lowercase());
    let any = |names: &[String]| names.iter().any(|name| words.contains(&name.to_lowercase()));
    let all_rungs = Rung::available();
    let names: Vec<String> = all_rungs.iter().map(ToString::to_string).collect();
    let rungs = all_rungs.iter().filter(|rung| !any(&names) || asked(rung.to_string()));
    let names: Vec<String> = TensorType::ALL.map(|one| one.to_string()).into();
    let types: Vec<TensorType> =
        TensorType::ALL.into_iter().filter(|one| !any(&names) || asked(one.to_string())).collect();
    let team = Team::new(1);
    println!("{:12} {:6} {:>24} {:>24} {:>24}", "rung", "type", "1 row", "4 rows", "16 rows");
    for &rung in rungs {
        for &tensor_type in &types {
            let numbers = ROWS.map(|rows| compare(rung, &team, tensor_type, rows));
            let rung = rung.to_string();
            println!(
                "{rung:12} {:6} {:>24} {:>24} {:>24}",
                tensor_type.to_string(),
                numbers[0],
                numbers[1],
                numbers[2]
            );
        }
    }
}

/// Returns a cell of the table: both kernels' microseconds, and how much longer the batch kernel
/// takes.
fn compare(rung: Rung, team: &Team, tensor_type: TensorType, rows: usize) -> String {
    let (height, width) = SHAPE;
    let size = height * tensor_type.row_bytes(width).expect("whole blocks");
    let mut random = Random(7);
    let one = matrix(tensor_type, height, width, || random.next() as u8);
    let matrices: Vec<Matrix> = (0..(BYTES / size).clamp(2, 64))
        .map(|_| {
            let bytes = one.bytes().to_vec().into();
            Matrix::new(height, width, tensor_type, bytes).expect("a matrix")
        })
        .collect();
    let mut input = Input::default();
    input.resize(rows, width);
    input.values.iter_mut().for_each(|x| *x = random.signed());
    let input = if rung.wants_int8() {
        quantize(rung, team, &mut input, BLOCK.max(tensor_type.block_len()))
    } else {
        input.without_int8()
    };
    let mut out = [vec![0.0; rows * height], vec![0.0; rows * height]];
    let (start, mut pairs) = (Instant::now(), Vec::new());
    for pair in matrices.iter().cycle().skip(1).step_by(2).zip(matrices.iter().cycle().step_by(2)) {
        let mut time = |alike: bool, weight: &Matrix| {
            let start = Instant::now();
            if alike {
                matmul_alike(rung, team, weight, input, &mut out[1]);
            } else {
                matmul(rung, team, weight, input, &mut out[0]);
            }
            start.elapsed().as_secs_f64()
        };
        // The order alternates, because the second kernel finds other data in the caches.
        let turn = pairs.len() % 2 == 0;
        let (first, second) = (time(turn, pair.0), time(!turn, pair.1));
        pairs.push(if turn { [second, first] } else { [first, second] });
        if pairs.len() >= 8 && start.elapsed() > TIME {
            break;
        }
    }
    black_box(&out);
    let median = |mut numbers: Vec<f64>| {
        numbers.sort_by(f64::total_cmp);
        numbers[numbers.len() / 2]
    };
    let of = |i: usize| 1e6 * median(pairs.iter().map(|pair| pair[i]).collect());
    let ratio = median(pairs.iter().map(|[free, alike]| alike / free).collect());
    // All matrices are equal, so kernels that add in the same order give the same bits.
    let same = out[0].iter().zip(&out[1]).all(|(a, b)| a.to_bits() == b.to_bits());
    let change = 100.0 * (ratio - 1.0);
    format!("{:.0} / {:.0} µs {change:+.0} %{}", of(0), of(1), if same { " same" } else { "" })
}
