//! Multiplies a matrix with rows of activations, ROUNDS times.
//! `python-ref/peers/arm_instructions.py` counts the instructions.
//!
//! `product RUNG TYPE ROWS COLS TOKENS ROUNDS`

use std::{env::args, str::FromStr};

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_reference::week2::{
    input::{BLOCK, Input, SUPER_BLOCK},
    kernels::{Rung, matmul, quantize},
    matrix::Matrix,
    parallel::Team,
};

fn main() {
    let arguments: Vec<String> = args().skip(1).collect();
    let [rung, tensor_type, numbers @ ..] = &arguments[..] else {
        panic!("expected RUNG TYPE ROWS COLS TOKENS ROUNDS");
    };
    let rung: Rung = parsed(rung);
    let tensor_type: TensorType = parsed(tensor_type);
    let numbers: Vec<usize> = numbers.iter().map(|number| parsed(number)).collect();
    let [rows, cols, tokens, rounds] = numbers[..] else {
        panic!("found {} numbers, expected ROWS COLS TOKENS ROUNDS", numbers.len());
    };
    let bytes = rows * tensor_type.row_bytes(cols).expect("whole blocks");
    let bytes: Vec<u8> = (0..bytes).map(|i| (i * i % 251) as u8 & 0x3f).collect();
    let weight = Matrix::new(rows, cols, tensor_type, bytes.into()).expect("a matrix");
    let mut x = Input::default();
    x.resize(tokens, cols);
    for (i, x) in x.values.iter_mut().enumerate() {
        *x = (i * 37 % 97) as f32 / 48.0 - 1.0;
    }
    let per_scale = if tensor_type.block_len() > BLOCK { SUPER_BLOCK } else { BLOCK };
    let (team, mut out) = (Team::new(1), vec![0.0; tokens * rows]);
    for _ in 0..rounds {
        let x = if rung.wants_int8() {
            quantize(rung, &team, &mut x, per_scale)
        } else {
            x.without_int8()
        };
        matmul(rung, &team, &weight, x, &mut out);
    }
    println!("{}", out.iter().sum::<f32>());
}

fn parsed<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("found {text:?}"))
}
