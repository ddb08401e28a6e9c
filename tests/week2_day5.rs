//! Week 2, day 5: products of quantized rows, in f32 and in integers, for one row of activations
//! and for many.
//!
//! Expected values: `python-ref/oracle/week2_day5.py`, which takes weights from the `gguf` package.

use products::super_blocks;
use tiny_llm::week2::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK},
    kernels::unpacked::Unpacked,
};
use tiny_llm_formats::{Tensor, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::fixtures::{Case, Fixtures};

#[path = "week2_day5/drawn.rs"]
mod drawn;
/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day5.rs"]
mod fresh;
#[path = "parts/products.rs"]
mod products;
#[path = "week2_day5/task_1.rs"]
mod task_1;
#[path = "week2_day5/task_2.rs"]
mod task_2;
#[path = "week2_day5/task_3.rs"]
mod task_3;
#[path = "week2_day5/task_4.rs"]
mod task_4;

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day5")
}

/// Applies `row` to the bytes of each row in a case. Returns the results.
fn of_rows(case: &Case, row: impl Fn(&[u8]) -> f32) -> Tensor {
    let rows = case.integers("rows");
    let (bytes, n) = (case.bytes("rows"), rows.shape()[0]);
    tensor(&[n], bytes.chunks_exact(bytes.len() / n).map(row).collect())
}

fn columns(name: &str, row: &[u8]) -> usize {
    let tensor_type: TensorType = name.parse().expect("a type");
    row.len() / tensor_type.block_bytes() * tensor_type.block_len()
}

/// Returns 64 blocks of 32 ones in Q4_0: codes of 9, with a scale of 1.
fn ones() -> Vec<u8> {
    [[0x00, 0x3c].as_slice(), &[0x99; 16]].concat().repeat(64)
}

/// Unpacks the Q8_0 blocks in `bytes` to `row`.
fn unpack(bytes: &[u8], row: &mut [Unpacked]) {
    row.fill(Unpacked::default());
    for (b, block) in bytes.chunks_exact(34).enumerate() {
        let super_block = &mut row[b / 8];
        for (code, &byte) in super_block.codes[b % 8 * 32..].iter_mut().zip(&block[2..]) {
            *code = byte as i8;
        }
        super_block.scales[b % 8 * 2..][..2].fill(tiny_llm::week2::blocks::f16_at(block, 0));
    }
}

/// Computes the product of a row of Q8_0 blocks by its definition.
fn dot(bytes: &[u8], x: &[Int8SuperBlock]) -> f32 {
    let mut row = vec![Unpacked::default(); x.len()];
    unpack(bytes, &mut row);
    let weights = row.iter().flat_map(|super_block| {
        (0..SUPER_BLOCK)
            .map(|i| f64::from(super_block.scales[i / SUM]) * f64::from(super_block.codes[i]))
    });
    let activations = x.iter().flat_map(|super_block| {
        (0..SUPER_BLOCK)
            .map(|i| f64::from(super_block.scales[i / BLOCK]) * f64::from(super_block.values[i]))
    });
    weights.zip(activations).map(|(w, x)| w * x).sum::<f64>() as f32
}
