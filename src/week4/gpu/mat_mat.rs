//! Day 5. Multiplies a matrix, stored in blocks, by many columns. Each block is unpacked once for
//! sixteen columns.
//!
//! Tasks here: week4-day5 task 4 (`mat_mat`). Everything else is provided.

/// Number of rows in a tile, and also its number of columns. A workgroup has one thread for each
/// result in its tile.
pub const TILE: u32 = 16;

/// Returns WGSL source to append to the same text as for [`mat_vec`](super::mat_vec): `BINDINGS`,
/// `READING` and a format's functions. The source is `main`, with 16 × 16 threads per workgroup. A
/// workgroup computes one tile of results, 16 rows by 16 columns. The tile begins at row
/// `16 · group.x` and column `16 · group.y`, where `group` is the workgroup's index in the grid.
/// (Tiles at the edges may have fewer rows or columns.) The workgroup unpacks each weight of the
/// tile's rows once, into memory that its threads share.
#[must_use]
pub fn mat_mat() -> &'static str {
    todo!("week4-day5 task 4: mat_mat")
}
