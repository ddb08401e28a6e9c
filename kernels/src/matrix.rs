//! A weight matrix that is used directly from a mapped file: nothing is copied or converted, except
//! by [`repack`](crate::repack).

use std::sync::{Arc, OnceLock};

use anyhow::{Result, ensure};
use tiny_llm_formats::{bytes::Bytes, gguf::TensorType};

/// A row-major matrix `[rows, cols]`. Each row is a whole number of blocks. The dot product of a
/// row and the input is one output.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// Number of rows, which is the number of outputs.
    pub rows: usize,
    /// Number of columns, which is the number of inputs.
    pub cols: usize,
    /// The format of the weights.
    pub tensor_type: TensorType,
    /// All rows, `rows · row_bytes` bytes.
    bytes: Bytes,
    /// A copy that kernels read instead of `bytes`, see [`repack`](crate::repack::repack). All
    /// clones of the matrix share the copy.
    copy: Arc<OnceLock<Repacked>>,
}

/// A copy of a matrix in memory.
#[derive(Debug)]
struct Repacked {
    bytes: Bytes,
    /// Number of rows whose blocks are side by side, in the layout of [`repack`](crate::repack). If
    /// 1, the bytes are in the layout of the file.
    side_by_side: usize,
}

impl Matrix {
    /// Creates a matrix from `bytes`.
    ///
    /// # Errors
    /// If a row isn't a whole number of blocks, or the number of bytes doesn't match the shape and
    /// the type.
    pub fn new(rows: usize, cols: usize, tensor_type: TensorType, bytes: Bytes) -> Result<Self> {
        let Some(row_bytes) = tensor_type.row_bytes(cols) else {
            anyhow::bail!(
                "found rows of {cols} weights, expected a multiple of {}, the block length of \
                 {tensor_type}",
                tensor_type.block_len()
            );
        };
        let expected = row_bytes.checked_mul(rows);
        ensure!(
            expected == Some(bytes.len()),
            "found {} bytes, expected {rows} rows of {row_bytes} bytes",
            bytes.len()
        );
        Ok(Self { rows, cols, tensor_type, bytes, copy: Arc::default() })
    }

    /// Creates a matrix of f32 values from `values [rows · cols]`, for tests and small matrices.
    ///
    /// # Panics
    /// If there are not `rows · cols` values.
    pub fn from_f32(rows: usize, cols: usize, values: &[f32]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Self::new(rows, cols, TensorType::F32, bytes.into()).expect("one value for each place")
    }

    /// Splits this matrix into `n` matrices of consecutive rows, with the same number of rows each.
    /// An example is a tensor with three axes that holds all experts of a layer. Nothing is copied.
    ///
    /// # Errors
    /// If the number of rows is not a multiple of `n`.
    pub fn split(&self, n: usize) -> Result<Vec<Self>> {
        ensure!(
            n > 0 && self.rows.is_multiple_of(n),
            "found {} rows, expected a multiple of {n}, the number of matrices",
            self.rows
        );
        let rows = self.rows / n;
        let size = rows * self.row_bytes();
        let part = |i: usize| {
            let bytes = self.bytes.slice(i * size..(i + 1) * size)?;
            Ok(Self { rows, bytes, copy: Arc::default(), ..*self })
        };
        (0..n).map(part).collect()
    }

    /// Returns the row and the column of the first weight that is NaN or infinite, either as a
    /// float or because of its block's scale or minimum. Reads every float and every scale.
    pub fn first_not_finite(&self) -> Option<[usize; 2]> {
        let block = self.tensor_type.first_not_finite(&self.bytes)?;
        let weight = block * self.tensor_type.block_len();
        Some([weight / self.cols, weight % self.cols])
    }

    /// Sets the copy that kernels read, unless the matrix has one already. The copy holds the same
    /// weights in the layout of [`repack`](crate::repack), with the blocks of `side_by_side` rows
    /// side by side, or in the layout of the file if `side_by_side` is 1. All clones of the matrix
    /// share the copy.
    pub(crate) fn set_copy(&self, bytes: Bytes, side_by_side: usize) {
        let _ = self.copy.set(Repacked { bytes, side_by_side });
    }

    /// Returns the number of rows whose blocks are side by side in the bytes that kernels read, or
    /// 1 in the layout of the file. A tile must start at a multiple of this number of rows.
    pub fn rows_side_by_side(&self) -> usize {
        self.copy.get().map_or(1, |copy| copy.side_by_side)
    }

    /// Returns the bytes of `n` rows, starting at row `n · group`, or `None` if the matrix has no
    /// copy with `n` rows side by side, in the layout of [`repack`](crate::repack).
    ///
    /// # Panics
    /// If the matrix doesn't have these rows.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn side_by_side(&self, n: usize, group: usize) -> Option<&[u8]> {
        let copy = self.copy.get().filter(|copy| copy.side_by_side == n)?;
        let size = n * self.row_bytes();
        Some(&copy.bytes[group * size..][..size])
    }

    /// Returns the number of bytes in a row.
    #[inline]
    pub fn row_bytes(&self) -> usize {
        self.cols / self.tensor_type.block_len() * self.tensor_type.block_bytes()
    }

    /// Returns the bytes of row `r`.
    #[inline]
    pub fn row(&self, r: usize) -> &[u8] {
        &self.bytes()[r * self.row_bytes()..][..self.row_bytes()]
    }

    /// Returns the matrix's bytes in the file, as a shared handle.
    pub fn shared_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns all bytes in the layout of the file, row after row.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self.copy.get() {
            Some(copy) if copy.side_by_side == 1 => &copy.bytes,
            _ => &self.bytes,
        }
    }
}
