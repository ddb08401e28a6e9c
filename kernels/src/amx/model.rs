//! A matrix unit in plain Rust, for processors without one. It also serves as a specification of
//! the real unit.

use super::unit::{ROW, SIDE, Shapes, Sums, Unit};

/// The model of a matrix unit: its eight tiles.
#[derive(Debug)]
pub(crate) struct Model {
    /// The shapes of the tiles, or `None` before they are configured and after they are released.
    shapes: Option<Shapes>,
    tiles: [[[u8; ROW]; SIDE]; 8],
}

const ZEROS: [[u8; ROW]; SIDE] = [[0; ROW]; SIDE];

impl Default for Model {
    fn default() -> Self {
        Self { shapes: None, tiles: [ZEROS; 8] }
    }
}

impl Model {
    fn shape(&self, tile: usize) -> (usize, usize) {
        self.shapes.expect("tiles have shapes before they are used").0[tile]
    }

    /// Adds the product of tiles `a` and `b` to tile `c`. `weight` converts a byte of tile `a` to a
    /// number.
    fn multiply(&mut self, [c, a, b]: [usize; 3], weight: impl Fn(u8) -> i32) {
        let [(rows, width), (a_rows, depth), (b_rows, b_width)] =
            [c, a, b].map(|tile| self.shape(tile));
        assert!(a_rows == rows && b_width == width && b_rows == depth / 4, "tiles that fit");
        for m in 0..rows {
            for n in 0..width / 4 {
                let x = |k: usize| i32::from(self.tiles[b][k / 4][4 * n + k % 4] as i8);
                let product = |k: usize| weight(self.tiles[a][m][k]) * x(k);
                let sum: i32 = (0..depth).map(product).sum();
                let at = &mut self.tiles[c][m][4 * n..4 * n + 4];
                let before = i32::from_le_bytes(at.try_into().expect("4 bytes"));
                at.copy_from_slice(&before.wrapping_add(sum).to_le_bytes());
            }
        }
    }
}

impl Unit for Model {
    fn configure(&mut self, shapes: &Shapes) {
        *self = Self { shapes: Some(*shapes), ..Self::default() };
    }

    fn zero<const T: usize>(&mut self) {
        self.shape(T);
        self.tiles[T] = ZEROS;
    }

    fn load<const T: usize>(&mut self, from: &[u8], stride: usize) {
        let (rows, row_bytes) = self.shape(T);
        self.tiles[T] = ZEROS;
        for (i, row) in self.tiles[T][..rows].iter_mut().enumerate() {
            row[..row_bytes].copy_from_slice(&from[i * stride..][..row_bytes]);
        }
    }

    fn dot<const C: usize, const A: usize, const B: usize>(&mut self) {
        self.multiply([C, A, B], |byte| i32::from(byte as i8));
    }

    fn dot_unsigned<const C: usize, const A: usize, const B: usize>(&mut self) {
        self.multiply([C, A, B], i32::from);
    }

    fn store<const T: usize>(&mut self, to: &mut Sums) {
        assert_eq!(self.shape(T), (SIDE, ROW), "a tile of sums");
        for (to, row) in to.0.iter_mut().zip(&self.tiles[T]) {
            for (to, bytes) in to.iter_mut().zip(row.as_chunks().0) {
                *to = i32::from_le_bytes(*bytes);
            }
        }
    }

    fn release(&mut self) {
        self.shapes = None;
    }
}
