//! A second layout of weights, which is made once, when a model is loaded. It stores a block of
//! each of several rows side by side: as many rows as a vector has lanes of 32 bits, eight with
//! AVX2 and sixteen with AVX-512.
//!
//! In a file, a vector kernel finds the codes of a row next to each other. To have a row in each
//! lane, it must transpose them each time. Here they are transposed once. The layout of eight
//! blocks is element by element: element 0 of the eight rows, then element 1 of the eight rows, and
//! so on. An element is a half-precision number, or four bytes of anything else. The eight blocks
//! take as many bytes as in the file. Sixteen blocks have the same layout.

use std::ops::Range;

use anyhow::Result;
use tiny_llm_formats::{bytes::Bytes, gguf::TensorType};

use crate::{
    matrix::Matrix,
    parallel::{Schedule, Team},
    rung::Rung,
};

/// Number of rows side by side for AVX2.
pub(crate) const EIGHT: usize = 8;
/// Number of rows side by side for AVX-512.
pub(crate) const SIXTEEN: usize = 16;

/// Copies start at multiples of this number of bytes, the size of a cache line.
const LINE: usize = 64;

/// A range of a block's bytes, and the size of the elements in it.
struct Part {
    bytes: Range<usize>,
    element: usize,
}

/// Returns the parts of a block, or `None` if no kernel reads the format in this module's layout.
fn parts(tensor_type: TensorType) -> Option<[Part; 2]> {
    let end = tensor_type.block_bytes();
    // `halves` is where the half-precision numbers are: at the start of a block, or at its end.
    let halves = match tensor_type {
        TensorType::Q4_0 | TensorType::Q5_0 | TensorType::Q8_0 => 0..2,
        TensorType::Q4_1 | TensorType::Q4_K | TensorType::Q5_K => 0..4,
        TensorType::Q6_K => 208..210,
        _ => return None,
    };
    let words = if halves.start == 0 { halves.end..end } else { 0..halves.start };
    Some([Part { bytes: halves, element: 2 }, Part { bytes: words, element: 4 }])
}

/// Copies matrices into memory of the process, in huge pages if the system has them, so that
/// kernels read the copies and not the file. Returns the size of the memory in bytes.
///
/// `rung` returns the rung (set of kernels) that multiplies a format. If that rung has kernels for
/// this module's layout, and the number of rows of weights is a multiple of the number that are
/// side by side, the copy has this layout. Otherwise it has the layout of the file. Kernels for a
/// repacked matrix add in the same order as those for many rows of activations.
///
/// # Errors
/// If the system refuses the memory.
pub fn repack<S: Schedule>(
    team: &Team<S>,
    matrices: &[&Matrix],
    rung: impl Fn(TensorType) -> Rung + Sync,
) -> Result<usize> {
    let side_by_side = |matrix: &Matrix| {
        let n = match rung(matrix.tensor_type) {
            Rung::Avx2 => EIGHT,
            Rung::Avx512Vnni => SIXTEEN,
            _ => return 1,
        };
        let possible = parts(matrix.tensor_type).is_some()
            && matrix.rows.is_multiple_of(n)
            && !matrix.bytes().is_empty();
        if possible { n } else { 1 }
    };
    let sizes = matrices.iter().map(|matrix| matrix.bytes().len().next_multiple_of(LINE));
    // All copies are in one piece of memory, because a single matrix may be smaller than a huge
    // page.
    let memory = Bytes::in_huge_pages(sizes.clone().sum(), |mut rest| {
        let mut copies = Vec::new();
        for size in sizes.clone() {
            let (copy, others) = rest.split_at_mut(size);
            copies.push(copy);
            rest = others;
        }
        team.parallel_rows(&mut copies, 1, 1, |i, copy| {
            let matrix = matrices[i];
            let (from, copy) = (matrix.bytes(), &mut copy[0][..matrix.bytes().len()]);
            match side_by_side(matrix) {
                1 => copy.copy_from_slice(from),
                n => interleave(matrix.tensor_type, n, matrix.row_bytes(), from, copy),
            }
        });
    })?;
    let mut start = 0;
    for (matrix, size) in matrices.iter().zip(sizes) {
        let copy = memory.slice(start..start + matrix.bytes().len())?;
        matrix.set_copy(copy, side_by_side(matrix));
        start += size;
    }
    Ok(memory.len())
}

/// Writes `rows` to `out`, with `n` rows side by side. `rows` must be whole rows of `row_bytes`
/// bytes each, and their number a multiple of `n`.
///
/// # Panics
/// If the format has no such layout, or the lengths of `rows` and `out` differ.
fn interleave(tensor_type: TensorType, n: usize, row_bytes: usize, rows: &[u8], out: &mut [u8]) {
    let parts = parts(tensor_type).expect("a format with this layout");
    let block_bytes = tensor_type.block_bytes();
    assert_eq!(rows.len(), out.len(), "found {} bytes of room", out.len());
    let groups = rows.chunks_exact(n * row_bytes).zip(out.chunks_exact_mut(n * row_bytes));
    for (rows, out) in groups {
        for (b, out) in out.chunks_exact_mut(n * block_bytes).enumerate() {
            for Part { bytes, element } in &parts {
                for (r, row) in rows.chunks_exact(row_bytes).enumerate() {
                    let from = &row[b * block_bytes..][bytes.clone()];
                    let to = &mut out[n * bytes.start + r * element..];
                    for (i, from) in from.chunks_exact(*element).enumerate() {
                        to[i * n * element..][..*element].copy_from_slice(from);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleave_moves_every_byte_to_its_position() {
        for (tensor_type, n) in
            TensorType::READ.into_iter().flat_map(|t| [(t, EIGHT), (t, SIXTEEN)])
        {
            let Some(parts) = parts(tensor_type) else { continue };
            let block_bytes = tensor_type.block_bytes();
            // There are two blocks per row. In the first round, each byte is the low byte of its
            // index. In the second round, it is the high byte. So the two rounds together
            // distinguish all bytes.
            let row_bytes = 2 * block_bytes;
            for low in [true, false] {
                let number = |i: usize| if low { i as u8 } else { (i >> 8) as u8 };
                let rows: Vec<u8> = (0..n * row_bytes).map(number).collect();
                let mut out = vec![0; rows.len()];
                interleave(tensor_type, n, row_bytes, &rows, &mut out);
                for Part { bytes, element } in &parts {
                    for (b, r, at) in places(n, bytes) {
                        let (i, byte) =
                            ((at - bytes.start) / element, (at - bytes.start) % element);
                        let to =
                            b * n * block_bytes + n * bytes.start + (i * n + r) * element + byte;
                        assert_eq!(
                            out[to],
                            rows[r * row_bytes + b * block_bytes + at],
                            "{tensor_type}, {n} rows: byte {at} of block {b} of row {r}"
                        );
                    }
                }
            }
        }
    }

    /// Returns every combination of block, row and byte.
    fn places(n: usize, bytes: &Range<usize>) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..2).flat_map(move |b| (0..n).flat_map(move |r| bytes.clone().map(move |at| (b, r, at))))
    }
}
