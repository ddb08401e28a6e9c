//! Day 5. A matrix in blocks times many columns: each block is unpacked once for sixteen columns.
//!
//! Tasks here: week4-day5 task 4 (`mat_mat`). Everything else is provided.

/// Number of rows of a tile, and of its columns. A workgroup has a thread for each of the tile's
/// results.
pub const TILE: u32 = 16;

/// Returns WGSL that follows the bindings, the reading functions and a format of
/// [`mat_vec`](super::mat_vec): `main`, with 16 × 16 threads per workgroup. A workgroup computes
/// one tile of results: 16 rows from row `16 · group.x` on, and 16 columns from column `16 ·
/// group.y` on, as far as these exist. It unpacks each element of its sixteen rows once, into
/// memory that its threads share.
#[must_use]
pub fn mat_mat() -> &'static str {
    todo!("week4-day5 task 4: mat_mat")
}
