//! Pseudorandom weights in every type.

use tiny_llm_formats::gguf::TensorType;

use super::Matrix;

/// A generator of pseudorandom numbers, which are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number from −1 to 1.
    pub(crate) fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Returns a matrix with random f32 and bf16 weights and random scales. Other bytes are `byte()`.
pub(crate) fn matrix(
    tensor_type: TensorType,
    rows: usize,
    cols: usize,
    mut byte: impl FnMut() -> u8,
) -> Matrix {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ cols as u64);
    let mut bytes: Vec<u8> =
        (0..rows * tensor_type.row_bytes(cols).expect("whole blocks")).map(|_| byte()).collect();
    for block in bytes.chunks_exact_mut(tensor_type.block_bytes()) {
        match tensor_type {
            TensorType::F32 => block.copy_from_slice(&random.signed().to_le_bytes()),
            TensorType::BF16 => {
                block.copy_from_slice(&half::bf16::from_f32(random.signed()).to_le_bytes());
            }
            // 2⁻¹⁷ to 2⁻².
            TensorType::MXFP4 => block[0] = 110 + random.next() as u8 % 16,
            _ => {
                for &at in tensor_type.halves() {
                    block[at..][..2].copy_from_slice(
                        &half::f16::from_f32(random.signed() * 0.02).to_le_bytes(),
                    );
                }
            }
        }
    }
    Matrix::new(rows, cols, tensor_type, bytes.into()).expect("a matrix")
}
