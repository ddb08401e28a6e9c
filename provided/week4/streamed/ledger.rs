//! Day 7. Records how memory is used.

use core::cell::{Cell, RefCell};

/// Maximum number of parts in a ledger.
pub const MOST_PARTS: usize = 32;

/// Records the memory budget, the peak usage, and the memory needed for each purpose.
#[derive(Debug, Default)]
pub struct Ledger {
    budget: Cell<usize>,
    peak: Cell<usize>,
    parts: RefCell<[Part; MOST_PARTS]>,
}

/// The memory needed for one purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// Name of the purpose.
    pub what: &'static str,
    /// Largest number of bytes that were taken in one request, including alignment.
    pub bytes: usize,
}

impl Ledger {
    /// Sets the budget in bytes.
    pub(crate) fn set_budget(&self, bytes: usize) {
        self.budget.set(bytes);
    }

    /// Returns the budget in bytes.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.budget.get()
    }

    /// Returns the largest number of bytes that were in use at once.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Returns one part for each purpose, in order of first use. Unused entries at the end are
    /// empty.
    #[must_use]
    pub fn parts(&self) -> [Part; MOST_PARTS] {
        *self.parts.borrow()
    }

    /// Records that `bytes` bytes were taken for the purpose `what`, and that `free` bytes are
    /// left.
    pub fn note(&self, what: &'static str, bytes: usize, free: usize) {
        self.peak.set(self.peak.get().max(self.budget.get() - free));
        let mut parts = self.parts.borrow_mut();
        let known = parts.iter_mut().find(|part| part.what == what || part.what.is_empty());
        if let Some(part) = known {
            *part = Part { what, bytes: part.bytes.max(bytes) };
        }
    }
}
