//! The order of columns in a format's unpacked vectors, and activations in the same order.

use std::arch::x86_64::*;

use super::lanes::values_at;
use crate::input::Int8SuperBlock;

/// The columns of a super-block in 16 pieces of 16: which piece lies in which lane of the four
/// vectors that a format's unpacking gives. In each vector, the first two pieces are of the same 64
/// columns, and the last two.
pub(crate) struct Order {
    /// Which 16-bit number of the scales, one for each piece, meets the sums packed from vectors 0
    /// and 1, and from 2 and 3.
    pub(super) scales: [[i16; 32]; 2],
    /// For each vector, the two times 64 columns, and which 64-bit numbers of them it has.
    from: [[usize; 2]; 4],
    numbers: [[i64; 8]; 4],
    /// The same for fours of columns.
    pub(super) columns: Columns,
    /// Which 16-bit number of the scales meets each two neighbouring codes of a vector.
    pub(crate) words: [[i16; 32]; 4],
}

/// Four neighbouring columns of a super-block have a number from 0 to 63. This says which are where
/// in the four vectors that a format's unpacking gives: in number `i % 16` of vector `i / 16`.
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
            // A lane of packed sums has four of the first vector, then four of the second.
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

    /// Returns the piece in this lane, counted over all vectors.
    pub(crate) const fn piece(&self, lane: usize) -> usize {
        self.columns[4 * lane] / 4
    }

    /// Returns activations in this order.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn arrange(&self, x: &Int8SuperBlock) -> [__m512i; 4] {
        let mut values = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            let [first, second] = self.from[v];
            // SAFETY: eight numbers of 64 bits are 64 bytes.
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
