//! The interface of a matrix unit: eight tiles and their operations.

/// Size of a row of a tile in bytes.
pub(crate) const ROW: usize = 64;
/// Number of rows of a tile, and of 32-bit elements in a row.
pub(crate) const SIDE: usize = 16;

/// The number of rows of each tile, and the number of bytes in each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shapes(pub(crate) [(usize, usize); 8]);

impl Shapes {
    /// Returns the shapes of the tiles for products of `columns` columns:
    ///
    /// - Tiles 0 to 3 hold sums of 16 rows of weights times 16 rows of activations.
    /// - Tiles 4 and 5 hold weights. Each row of a tile is a row of weights, in the file's order.
    /// - Tiles 6 and 7 hold activations. Each row has four columns of 16 rows of activations,
    ///   because the unit adds the products of neighbouring elements.
    pub(crate) const fn of(columns: usize) -> Self {
        let (sums, weights, activations) = ((SIDE, ROW), (SIDE, columns), (columns / 4, ROW));
        Self([sums, sums, sums, sums, weights, weights, activations, activations])
    }

    /// Returns the shapes in the layout that the instruction `ldtilecfg` reads.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const fn bytes(&self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        // Palette 1 is the only one that exists.
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

/// The operations of a matrix unit. A tile's number is a const parameter, because it is part of the
/// instruction.
///
/// On processors without a matrix unit, `Model` implements these operations in plain Rust.
pub(crate) trait Unit {
    /// Sets the shapes of all tiles.
    fn configure(&mut self, shapes: &Shapes);

    /// Sets tile `T` to zeros.
    fn zero<const T: usize>(&mut self);

    /// Fills tile `T` with rows of `from`, which begin `stride` bytes apart.
    ///
    /// # Panics
    /// If the rows are not within `from`.
    fn load<const T: usize>(&mut self, from: &[u8], stride: usize);

    /// Adds products of signed bytes to tile `C`: element `n` of row `m` is increased by the sum of
    /// `A[m, k] · B[k / 4, 4n + k % 4]` over all `k`.
    fn dot<const C: usize, const A: usize, const B: usize>(&mut self);

    /// Like [`Unit::dot`], with unsigned bytes in `A`.
    fn dot_unsigned<const C: usize, const A: usize, const B: usize>(&mut self);

    /// Stores tile `T`, which holds sums, in `to`.
    fn store<const T: usize>(&mut self, to: &mut Sums);

    /// Releases the tiles. Until then, the system saves them at every context switch.
    fn release(&mut self);
}

/// The contents of a tile of sums, `[weights, activations]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Sums(pub(crate) [[i32; SIDE]; SIDE]);

impl Sums {
    pub(crate) const ZEROS: Self = Self([[0; SIDE]; SIDE]);
}
