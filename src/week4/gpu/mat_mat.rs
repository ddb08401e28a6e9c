//! Day 5. A matrix in blocks times many columns: a block is unpacked once for sixteen of them.
//!
//! Tasks here: week4-day5 task 4 (`mat_mat`). Everything else is provided.

/// Rows and columns of a tile. A workgroup has a thread for each of the tile's results.
pub const TILE: u32 = 16;

/// Returns WGSL that follows the bindings, the reading functions and a format of
/// [`mat_vec`](super::mat_vec): `main`, with 16 × 16 threads per workgroup. A workgroup computes
/// the tile of results of the rows `16 · group.x` to `+ 15` and the columns `16 · group.y` to
/// `+ 15`, as far as these exist. It unpacks each element of its sixteen rows once, into memory
/// that its threads share.
#[must_use]
pub fn mat_mat() -> &'static str {
    todo!("week4-day5 task 4: mat_mat")
}
