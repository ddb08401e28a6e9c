//! The first rung: each row is decoded into a buffer, and the buffer multiplied. Two passes over memory.

use half::{bf16, f16};
use tiny_llm_kit::gguf::TensorType;

use crate::week2::{input::Input, matrix::Matrix, parallel::Team};

/// Decodes one row of a matrix. `out [cols]`.
pub fn decode_row(weight: &Matrix, r: usize, out: &mut [f32]) {
    let bytes = weight.row(r);
    match weight.tensor_type {
        TensorType::F32 => decode(bytes, out, f32::from_le_bytes),
        TensorType::F16 => decode(bytes, out, |b| f16::from_le_bytes(b).to_f32()),
        TensorType::BF16 => decode(bytes, out, |b| bf16::from_le_bytes(b).to_f32()),
        other => todo!("{other}"),
    }
}

fn decode<const N: usize>(bytes: &[u8], out: &mut [f32], value: impl Fn([u8; N]) -> f32) {
    for (bytes, x) in bytes.chunks_exact(N).zip(out) {
        *x = value(bytes.try_into().expect("N bytes"));
    }
}

/// See [`super::matmul`].
pub fn matmul(team: &Team, weight: &Matrix, x: &Input, out: &mut [f32]) {
    team.parallel_tiles(out, weight.rows, (x.rows, 16), |tile| {
        let mut row = vec![0.0; weight.cols];
        for (i, r) in tile.cols.clone().enumerate() {
            decode_row(weight, r, &mut row);
            for t in tile.rows.clone() {
                tile.row_mut(t)[i] = row.iter().zip(x.row(t)).map(|(w, x)| w * x).sum();
            }
        }
    });
}
