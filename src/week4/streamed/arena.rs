//! Day 7. Memory under a hard budget. All memory comes from one arena.
//!
//! Nothing is freed individually. Memory that was taken from an [`Arena::scope`] is free again when
//! that scope ends, and the borrow checker ensures that nothing uses it afterwards.
//!
//! Tasks here: week4-day7 task 2 (`Arena::take`, `Arena::scope`). Everything else is provided.

use core::{mem, panic::Location};

use bytemuck::Pod;

use super::{error::Error, ledger::Ledger};

/// Hands out the bytes of one block of memory, from its beginning to its end.
#[derive(Debug)]
pub struct Arena<'a> {
    /// The free part of the memory.
    free: &'a mut [u8],
    ledger: &'a Ledger,
}

impl<'a> Arena<'a> {
    /// Provided. Creates an arena over all of `memory`. The length of `memory` is the budget.
    #[must_use]
    pub fn new(memory: &'a mut [u8], ledger: &'a Ledger) -> Self {
        ledger.set_budget(memory.len());
        Self { free: memory, ledger }
    }

    /// Returns memory for `n` values of type `T`, all zero. It lives as long as the arena's memory.
    /// `what` describes its purpose in the ledger and in errors.
    ///
    /// Each call uses the padding bytes up to the next address that is aligned for `T`, then `n`
    /// times the size of `T`, and not a byte more. All of these bytes are recorded in the ledger
    /// ([`Ledger::note`]).
    ///
    /// # Errors
    /// If too few bytes are left. The error contains the source line of the call. If the number of
    /// bytes overflows, the error's `wanted` is `usize::MAX`. The arena is unchanged.
    #[track_caller]
    pub fn take<T: Pod>(&mut self, what: &'static str, n: usize) -> Result<&'a mut [T], Error> {
        todo!("week4-day7 task 2: Arena::take")
    }

    /// Returns a new arena over the remaining memory. When the new arena is dropped, all memory
    /// that was taken from it is free again.
    pub fn scope(&mut self) -> Arena<'_> {
        todo!("week4-day7 task 2: Arena::scope")
    }

    /// Provided. Returns the number of bytes that are left.
    #[must_use]
    pub fn free(&self) -> usize {
        self.free.len()
    }
}
