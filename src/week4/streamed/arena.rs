//! Day 7. Memory under a hard budget. There is one piece of it, and this is the only place to
//! get some.
//!
//! Nothing is ever given back by name. What was taken out of a [`Arena::scope`] is free again when
//! that scope is gone, and the borrow checker sees to it that nobody still has it then.
//!
//! Tasks here: week4-day7 task 2 (`Arena::take`, `Arena::scope`). Everything else is provided.

use core::{mem, panic::Location};

use bytemuck::Pod;

use super::{error::Error, ledger::Ledger};

/// Hands out a piece of memory from its beginning to its end.
#[derive(Debug)]
pub struct Arena<'a> {
    /// The part that nobody has.
    free: &'a mut [u8],
    ledger: &'a Ledger,
}

impl<'a> Arena<'a> {
    /// Provided. Over all of `memory`, which is the budget.
    #[must_use]
    pub fn new(memory: &'a mut [u8], ledger: &'a Ledger) -> Self {
        ledger.set_budget(memory.len());
        Self { free: memory, ledger }
    }

    /// Memory for `n` values of a type, all zero, for as long as the arena's memory lives.
    ///
    /// It takes `n` times the type's size, and before that the bytes up to the next address at
    /// which such a value may stand; not one more. All of these bytes are noted in the ledger
    /// ([`Ledger::note`]).
    ///
    /// # Errors
    /// If less than that is left: with the line that called, and the arena as it was.
    #[track_caller]
    pub fn take<T: Pod>(&mut self, what: &'static str, n: usize) -> Result<&'a mut [T], Error> {
        todo!("week4-day7 task 2: Arena::take")
    }

    /// An arena over what is left. All that is taken from it is free again once it is gone.
    pub fn scope(&mut self) -> Arena<'_> {
        todo!("week4-day7 task 2: Arena::scope")
    }

    /// Provided. Bytes that are left.
    #[must_use]
    pub fn free(&self) -> usize {
        self.free.len()
    }
}
