//! Day 7. Who took how much memory.

use core::cell::{Cell, RefCell};

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
    /// The most at once, alignment included.
    pub bytes: usize,
}

impl Ledger {
    /// Sets how many bytes there are.
    pub(crate) fn set_budget(&self, bytes: usize) {
        self.budget.set(bytes);
    }

    /// Bytes that there are.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.budget.get()
    }

    /// The most that was in use at any time.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Each part once, in the order in which they were first taken; those after the last
    /// are empty.
    #[must_use]
    pub fn parts(&self) -> [Part; MOST_PARTS] {
        *self.parts.borrow()
    }

    /// `bytes` have been taken, and `free` are left.
    pub fn note(&self, what: &'static str, bytes: usize, free: usize) {
        self.peak.set(self.peak.get().max(self.budget.get() - free));
        let mut parts = self.parts.borrow_mut();
        let known = parts.iter_mut().find(|part| part.what == what || part.what.is_empty());
        if let Some(part) = known {
            *part = Part { what, bytes: part.bytes.max(bytes) };
        }
    }
}
