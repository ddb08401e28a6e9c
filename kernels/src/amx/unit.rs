//! The matrix unit as the kernels see it: eight tiles and what can be done with them.

/// Bytes in a row of a tile.
pub(crate) const ROW: usize = 64;
/// Rows of a tile, and numbers of 32 bits in a row.
pub(crate) const SIDE: usize = 16;

/// The rows that each tile has, and the bytes in each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shapes(pub(crate) [(usize, usize); 8]);

impl Shapes {
    /// For products of so many columns. Tiles 0 to 3 are sums, of 16 rows of weights times 16 rows
    /// of activations; 4 and 5 are weights, a row each, as they lie in a file; 6 and 7 are
    /// activations, in each row four columns of 16 of them, since what is added up must be
    /// neighbours.
    pub(crate) const fn of(columns: usize) -> Self {
        let (sums, weights, activations) = ((SIDE, ROW), (SIDE, columns), (columns / 4, ROW));
        Self([sums, sums, sums, sums, weights, weights, activations, activations])
    }

    /// As `ldtilecfg` reads them.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const fn bytes(&self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        // The only palette that there is.
        bytes[0] = 1;
        let mut tile = 0;
        while tile < 8 {
            let (rows, row_bytes) = self.0[tile];
            assert!(rows > 0 && rows <= SIDE && row_bytes > 0 && row_bytes <= ROW);
            [bytes[16 + 2 * tile], bytes[17 + 2 * tile]] = (row_bytes as u16).to_le_bytes();
            bytes[48 + tile] = rows as u8;
            tile += 1;
        }
        bytes
    }
}

/// What the unit can do. A tile is named by its number, which is part of an instruction.
///
/// All of it can be asked of any processor: [`Model`](super::model::Model) is the unit in plain
/// Rust.
pub(crate) trait Unit {
    /// Gives all tiles their shapes.
    fn configure(&mut self, shapes: &Shapes);

    /// Sets a tile to zeros.
    fn zero<const T: usize>(&mut self);

    /// Fills a tile with rows that begin `stride` bytes after one another.
    ///
    /// # Panics
    /// If they are not within `from`.
    fn load<const T: usize>(&mut self, from: &[u8], stride: usize);

    /// Adds products: number `n` of row `m` of tile `C` grows by the sum of
    /// `A[m, k] · B[k / 4, 4n + k % 4]` over all `k`, signed bytes times signed bytes.
    fn dot<const C: usize, const A: usize, const B: usize>(&mut self);

    /// The same with unsigned bytes in `A`.
    fn dot_unsigned<const C: usize, const A: usize, const B: usize>(&mut self);

    /// Writes a tile of sums.
    fn store<const T: usize>(&mut self, to: &mut Sums);

    /// Gives the tiles back: as long as they hold something, it is saved with every change of
    /// threads.
    fn release(&mut self);
}

/// What a tile of sums holds: `[weights, activations]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Sums(pub(crate) [[i32; SIDE]; SIDE]);

impl Sums {
    pub(crate) const ZEROS: Self = Self([[0; SIDE]; SIDE]);
}
