//! Day 7. Memory under a hard budget. There is one piece of it, and all memory comes from here.
//!
//! Nothing is freed individually. What was taken from an [`Arena::scope`] is free again when that
//! scope ends, and the borrow checker ensures that it is no longer in use.
//!
//! Tasks here: week4-day7 task 2 (`Arena::take`, `Arena::scope`). Everything else is provided.

use core::{
    cell::{Cell, RefCell},
    mem,
    panic::Location,
};

use bytemuck::Pod;

use super::error::Error;

/// Hands out a piece of memory from its beginning to its end.
#[derive(Debug)]
pub struct Arena<'a> {
    /// The free part.
    free: &'a mut [u8],
    ledger: &'a Ledger,
}

impl<'a> Arena<'a> {
    /// Provided. An arena over all of `memory`, which is the budget.
    #[must_use]
    pub fn new(memory: &'a mut [u8], ledger: &'a Ledger) -> Self {
        ledger.budget.set(memory.len());
        Self { free: memory, ledger }
    }

    /// Returns memory for `n` values of a type, all zero, for as long as the arena's memory lives.
    ///
    /// It takes the bytes up to the next address that is aligned for the type, then `n` times the
    /// type's size, and not a byte more. All of these bytes are recorded in the ledger
    /// ([`Ledger::note`]).
    ///
    /// # Errors
    /// If less than that is left. The error has the line of the caller, and the arena is unchanged.
    #[track_caller]
    pub fn take<T: Pod>(&mut self, what: &'static str, n: usize) -> Result<&'a mut [T], Error> {
        todo!("week4-day7 task 2: Arena::take")
    }

    /// Returns an arena over the memory that is left. Everything taken from it is free again once
    /// it is dropped.
    pub fn scope(&mut self) -> Arena<'_> {
        todo!("week4-day7 task 2: Arena::scope")
    }

    /// Provided. Bytes that are left.
    #[must_use]
    pub fn free(&self) -> usize {
        self.free.len()
    }
}

/// Maximum number of parts in a ledger.
pub const MOST_PARTS: usize = 32;

/// What was taken, and for what purpose.
#[derive(Debug, Default)]
pub struct Ledger {
    budget: Cell<usize>,
    peak: Cell<usize>,
    parts: RefCell<[Part; MOST_PARTS]>,
}

/// A part that was taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub what: &'static str,
    /// The maximum at once, including alignment.
    pub bytes: usize,
}

impl Ledger {
    /// Provided. The budget in bytes.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.budget.get()
    }

    /// Provided. The most that was in use at any time.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Provided. Each part once, in the order in which they were first taken; those after the last
    /// are empty.
    #[must_use]
    pub fn parts(&self) -> [Part; MOST_PARTS] {
        *self.parts.borrow()
    }

    /// Provided. `bytes` have been taken, and `free` are left.
    pub fn note(&self, what: &'static str, bytes: usize, free: usize) {
        self.peak.set(self.peak.get().max(self.budget.get() - free));
        let mut parts = self.parts.borrow_mut();
        let known = parts.iter_mut().find(|part| part.what == what || part.what.is_empty());
        if let Some(part) = known {
            *part = Part { what, bytes: part.bytes.max(bytes) };
        }
    }
}
