//! 16 floats as one value: a vector register, or an array on any processor.
//!
//! The code that processes the sums of a tile is generic over the two, so that it adds in the same
//! order with either.

use super::unit::SIDE;

/// 16 floats.
pub(super) trait Sixteen: Copy {
    /// Returns `x` in all 16 elements.
    fn all(x: f32) -> Self;
    fn load(from: &[f32; SIDE]) -> Self;
    /// Converts integers to floats, rounded to nearest.
    fn of_integers(from: &[i32; SIDE]) -> Self;
    /// Computes `upper · 2^SHIFT + lower`, rounded once.
    fn of_two<const SHIFT: u32>(lower: &[i32; SIDE], upper: &[i32; SIDE]) -> Self;
    /// Returns sums of products, rounded once: element `i` is the sum over `k` of `x[k][i]` times
    /// `minimums[k]`. Each element of `x` and of `minimums` holds two 16-bit numbers, which are
    /// multiplied separately. `minimums` may have more elements than `x`.
    fn of_products(x: &[[i32; SIDE]], minimums: &[i32; 8]) -> Self;
    fn store(self, to: &mut [f32; SIDE]);
    fn plus(self, b: Self) -> Self;
    fn times(self, b: Self) -> Self;
    /// Computes `self · b + c`, rounded once.
    fn times_plus(self, b: Self, c: Self) -> Self;
    /// Prefetches the value `soon`.
    fn fetch<T>(soon: &T);
    /// Returns `rows` transposed.
    fn turned(rows: &[[f32; SIDE]; SIDE]) -> [[f32; SIDE]; SIDE];
}

impl Sixteen for [f32; SIDE] {
    fn all(x: f32) -> Self {
        [x; SIDE]
    }

    fn load(from: &[f32; SIDE]) -> Self {
        *from
    }

    fn of_integers(from: &[i32; SIDE]) -> Self {
        from.map(|x| x as f32)
    }

    fn of_two<const SHIFT: u32>(lower: &[i32; SIDE], upper: &[i32; SIDE]) -> Self {
        std::array::from_fn(|i| ((upper[i] << SHIFT) + lower[i]) as f32)
    }

    fn of_products(x: &[[i32; SIDE]], minimums: &[i32; 8]) -> Self {
        let halves = |two: i32| [two as i16, (two >> 16) as i16].map(i32::from);
        let product = |a: i32, b: i32| {
            let ([a, above], [b, below]) = (halves(a), halves(b));
            a * b + above * below
        };
        std::array::from_fn(|i| {
            x.iter().zip(minimums).map(|(x, &two)| product(x[i], two)).sum::<i32>() as f32
        })
    }

    fn store(self, to: &mut [f32; SIDE]) {
        *to = self;
    }

    fn plus(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] + b[i])
    }

    fn times(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] * b[i])
    }

    fn times_plus(self, b: Self, c: Self) -> Self {
        std::array::from_fn(|i| self[i].mul_add(b[i], c[i]))
    }

    fn fetch<T>(_: &T) {}

    fn turned(rows: &[[f32; SIDE]; SIDE]) -> [[f32; SIDE]; SIDE] {
        std::array::from_fn(|j| std::array::from_fn(|i| rows[i][j]))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use vector::Vector;

#[cfg(target_arch = "x86_64")]
mod vector {
    use std::arch::x86_64::*;

    use super::{SIDE, Sixteen};
    use crate::{
        avx512::{lanes::transpose, minimums::add_words},
        prefetch::fetch_value,
    };

    /// A 512-bit register. It is used only in AMX kernels, which are called only if AVX-512 was
    /// found.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Vector(__m512);

    // SAFETY of everything below: AVX-512 was found, see `Vector`, and 16 numbers are 64 bytes.
    macro_rules! here {
        ($($call:tt)*) => {
            // SAFETY: as above.
            Self(unsafe { $($call)* })
        };
    }

    impl Sixteen for Vector {
        #[inline(always)]
        fn all(x: f32) -> Self {
            here!(_mm512_set1_ps(x))
        }

        #[inline(always)]
        fn load(from: &[f32; SIDE]) -> Self {
            here!(_mm512_loadu_ps(from.as_ptr()))
        }

        #[inline(always)]
        fn of_integers(from: &[i32; SIDE]) -> Self {
            here!(_mm512_cvtepi32_ps(_mm512_loadu_si512(from.as_ptr().cast())))
        }

        #[inline(always)]
        fn of_two<const SHIFT: u32>(lower: &[i32; SIDE], upper: &[i32; SIDE]) -> Self {
            here! {{
                let upper = _mm512_loadu_si512(upper.as_ptr().cast());
                let lower = _mm512_loadu_si512(lower.as_ptr().cast());
                _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32::<SHIFT>(upper), lower))
            }}
        }

        #[inline(always)]
        fn of_products(x: &[[i32; SIDE]], minimums: &[i32; 8]) -> Self {
            here! {{
                let mut sums = _mm512_setzero_si512();
                for (x, &two) in x.iter().zip(minimums) {
                    let x = _mm512_loadu_si512(x.as_ptr().cast());
                    sums = add_words(sums, x, _mm512_set1_epi32(two));
                }
                _mm512_cvtepi32_ps(sums)
            }}
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; SIDE]) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) };
        }

        #[inline(always)]
        fn plus(self, b: Self) -> Self {
            here!(_mm512_add_ps(self.0, b.0))
        }

        #[inline(always)]
        fn times(self, b: Self) -> Self {
            here!(_mm512_mul_ps(self.0, b.0))
        }

        #[inline(always)]
        fn times_plus(self, b: Self, c: Self) -> Self {
            here!(_mm512_fmadd_ps(self.0, b.0, c.0))
        }

        #[inline(always)]
        fn fetch<T>(soon: &T) {
            fetch_value(soon);
        }

        #[inline(always)]
        fn turned(rows: &[[f32; SIDE]; SIDE]) -> [[f32; SIDE]; SIDE] {
            // SAFETY: as above.
            let turned = unsafe {
                let mut v = [_mm512_setzero_si512(); SIDE];
                for i in 0..SIDE {
                    v[i] = _mm512_loadu_si512(rows[i].as_ptr().cast());
                }
                transpose(v)
            };
            let mut out = [[0.0; SIDE]; SIDE];
            for i in 0..SIDE {
                // SAFETY: as above.
                unsafe { _mm512_storeu_si512(out[i].as_mut_ptr().cast(), turned[i]) };
            }
            out
        }
    }
}
