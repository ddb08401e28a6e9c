//! The order of columns in a format's unpacked vectors. Activations are rearranged in the same
//! order.

use std::arch::x86_64::*;

use super::lanes::values_at;
use crate::input::Int8SuperBlock;

/// The order of a super-block's columns in the four vectors that a format's unpacking returns. The
/// columns are divided into 16 pieces of 16, and each lane of the vectors holds one piece. In each
/// vector, the first two pieces are from the same 64 columns, and so are the last two.
pub(crate) struct Order {
    /// Index of the scale by which each sum is multiplied: first for the sums packed from vectors 0
    /// and 1, then for those from vectors 2 and 3. There is one scale per piece.
    pub(super) scales: [[i16; 32]; 2],
    /// For each vector, the two groups of 64 columns from which the vector is taken. Each group is
    /// given as the index of its first column.
    from: [[usize; 2]; 4],
    /// For each vector, the indices of the 64-bit numbers to pick from its two groups of columns,
    /// `from`.
    numbers: [[i64; 8]; 4],
    /// Which group of four neighbouring columns each 32-bit number of the unpacked vectors holds.
    pub(super) columns: Columns,
    /// For every two neighbouring codes of a vector, the index of their scale.
    pub(crate) words: [[i16; 32]; 4],
}

/// The order of groups of four neighbouring columns in the four unpacked vectors: 32-bit lane `i %
/// 16` of vector `i / 16` holds group `columns[i]`. The groups of a super-block are numbered from 0
/// to 63.
pub(super) type Columns = [usize; 64];

impl Order {
    pub(super) const fn new(pieces: [usize; 16]) -> Self {
        let mut order = Self {
            scales: [[0; 32]; 2],
            from: [[0; 2]; 4],
            numbers: [[0; 8]; 4],
            columns: [0; 64],
            words: [[0; 32]; 4],
        };
        let mut i = 0;
        while i < 128 {
            order.words[i / 32][i % 32] = pieces[i / 8] as i16;
            i += 1;
        }
        i = 0;
        while i < 64 {
            order.columns[i] = 4 * pieces[i / 4] + i % 4;
            // A lane of packed sums has four sums of the first vector, then four of the second.
            let (half, lane, second) = (i / 32, i % 32 / 8, i / 4 % 2);
            order.scales[half][i % 32] = pieces[8 * half + 4 * second + lane] as i16;
            i += 1;
        }
        let mut v = 0;
        while v < 4 {
            order.from[v] = [pieces[4 * v] / 4 * 64, pieces[4 * v + 2] / 4 * 64];
            let mut n = 0;
            while n < 8 {
                let piece = pieces[4 * v + n / 2];
                assert!(
                    piece / 4 * 64 == order.from[v][n / 4],
                    "two pieces of the same 64 columns"
                );
                order.numbers[v][n] = (n / 4 * 8 + piece % 4 * 2 + n % 2) as i64;
                n += 1;
            }
            v += 1;
        }
        order
    }

    /// Returns the index of the piece in lane `lane`. Lanes are numbered across all four vectors.
    pub(crate) const fn piece(&self, lane: usize) -> usize {
        self.columns[4 * lane] / 4
    }

    /// Returns the activations of `x` in this order.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn arrange(&self, x: &Int8SuperBlock) -> [__m512i; 4] {
        let mut values = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            let [first, second] = self.from[v];
            // SAFETY: the load reads 64 bytes, which is eight numbers of 64 bits.
            let numbers = unsafe { _mm512_loadu_si512(self.numbers[v].as_ptr().cast()) };
            values[v] = _mm512_permutex2var_epi64(
                values_at(&x.values, first),
                numbers,
                values_at(&x.values, second),
            );
        }
        values
    }
}
