//! The processor's matrix unit.
//!
//! The compiler has no stable intrinsics for the unit's instructions yet, so they are written as
//! assembly. The compiler itself never uses a tile, so a tile keeps its contents from one assembly
//! block to the next.

use std::arch::asm;

use super::{
    permission,
    unit::{ROW, SIDE, Shapes, Sums, Unit},
};

/// The tiles of the processor that runs this thread.
pub(super) struct Tiles {
    shapes: Shapes,
}

impl Tiles {
    /// Gives access to the processor's matrix unit. Its tiles must be configured before use.
    ///
    /// # Panics
    /// If the processor has no matrix unit, or the system does not let this process use it.
    pub(super) fn new() -> Self {
        assert!(permission::granted(), "tiles that may be used");
        Self { shapes: Shapes::of(ROW) }
    }
}

/// Multiplies four pairs of tiles `turns` times, without loading or storing a tile, to measure the
/// unit's highest rate. Returns the number of operations. The product of two bytes counts as two, a
/// multiplication and an addition.
///
/// # Panics
/// If there is no matrix unit, or this process may not use it.
pub fn multiply_in_place(turns: usize) -> usize {
    let mut unit = Tiles::new();
    unit.configure(&Shapes::of(ROW));
    for _ in 0..turns {
        unit.dot::<0, 4, 6>();
        unit.dot::<1, 5, 7>();
        unit.dot::<2, 4, 7>();
        unit.dot::<3, 5, 6>();
    }
    2 * 4 * turns * SIDE * SIDE * ROW
}

impl Drop for Tiles {
    fn drop(&mut self) {
        self.release();
    }
}

impl Unit for Tiles {
    #[inline(always)]
    fn configure(&mut self, shapes: &Shapes) {
        self.shapes = *shapes;
        let bytes = shapes.bytes();
        // SAFETY: the unit may be used, see `new`. The instruction reads 64 bytes, which describe
        // valid shapes, see `bytes`.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &bytes, options(nostack, readonly)) };
    }

    #[inline(always)]
    fn zero<const T: usize>(&mut self) {
        // SAFETY: the tiles are configured. The instruction doesn't access memory.
        unsafe { asm!("tilezero tmm{}", const T, options(nostack, nomem, preserves_flags)) };
    }

    #[inline(always)]
    fn load<const T: usize>(&mut self, from: &[u8], stride: usize) {
        let (rows, row_bytes) = self.shapes.0[T];
        assert!((rows - 1) * stride + row_bytes <= from.len(), "rows of a tile");
        // SAFETY: the tiles are configured, and the rows are within `from`, as checked above.
        unsafe {
            asm!(
                "tileloadd tmm{}, [{} + {}]", const T, in(reg) from.as_ptr(), in(reg) stride,
                options(nostack, readonly, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn dot<const C: usize, const A: usize, const B: usize>(&mut self) {
        // SAFETY: the tiles are configured, with shapes that fit sums, weights and activations. The
        // instruction doesn't access memory.
        unsafe {
            asm!(
                "tdpbssd tmm{}, tmm{}, tmm{}", const C, const A, const B,
                options(nostack, nomem, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn dot_unsigned<const C: usize, const A: usize, const B: usize>(&mut self) {
        // SAFETY: as above.
        unsafe {
            asm!(
                "tdpbusd tmm{}, tmm{}, tmm{}", const C, const A, const B,
                options(nostack, nomem, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn store<const T: usize>(&mut self, to: &mut Sums) {
        assert!(self.shapes.0[T] == (SIDE, ROW), "a tile of sums");
        // SAFETY: the tiles are configured. The instruction writes 16 consecutive rows of 64 bytes,
        // which is the layout of `Sums`.
        unsafe {
            asm!(
                "tilestored [{} + {}], tmm{}", in(reg) to, in(reg) ROW, const T,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn release(&mut self) {
        // SAFETY: the unit may be used, see `new`.
        unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) };
    }
}
