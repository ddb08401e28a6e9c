//! Byte-pair encoding: merges the best pair of neighbours, again and again, until no two can be
//! merged.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::vocabulary::NONE;

/// A piece of text that may be merged with its neighbours. The remaining pieces become tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol {
    /// The token with the symbol's text, or `NONE` if there is none. A symbol without a token is
    /// never merged.
    pub(super) id: u32,
    /// The symbol's range in the text.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The symbol's neighbours, by index. `NONE` at the ends.
    previous: u32,
    next: u32,
}

/// A pair that can be merged. Pairs are ordered by priority, then from left to right. The smallest
/// pair in this order is merged first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    priority: u32,
    left: u32,
    /// The ids of the two symbols when the pair was found. If either has changed since, the pair no
    /// longer exists.
    ids: (u32, u32),
    merged: u32,
}

/// Merges the symbols of one piece of text. Its memory is reused for the next piece.
#[derive(Default)]
pub(super) struct Merger {
    symbols: Vec<Symbol>,
    pairs: BinaryHeap<Reverse<Pair>>,
}

impl Merger {
    /// Adds a symbol at the end. It has the token `id` and spans the bytes from `start` to `end`.
    pub(super) fn push(&mut self, id: u32, start: usize, end: usize) {
        let at = self.symbols.len() as u32;
        if let Some(last) = self.symbols.last_mut() {
            last.next = at;
        }
        let previous = if at == 0 { NONE } else { at - 1 };
        self.symbols.push(Symbol {
            id,
            start: start as u32,
            end: end as u32,
            previous,
            next: NONE,
        });
    }

    /// Merges pairs until none can be merged, passes the remaining symbols to `each`, and removes
    /// all symbols. For a pair, `rule` returns its priority and the id of the merged token, or
    /// `None` if the pair cannot be merged. The pair with the smallest priority is merged first.
    pub(super) fn merge(
        &mut self,
        rule: impl Fn(&Symbol, &Symbol) -> Option<(u32, u32)>,
        mut each: impl FnMut(&Symbol),
    ) {
        let Self { symbols, pairs } = self;
        let consider = |symbols: &[Symbol], pairs: &mut BinaryHeap<_>, left: u32, right: u32| {
            let (a, b) = (&symbols[left as usize], &symbols[right as usize]);
            if let Some((priority, merged)) =
                (a.id != NONE && b.id != NONE).then(|| rule(a, b)).flatten()
            {
                pairs.push(Reverse(Pair { priority, left, ids: (a.id, b.id), merged }));
            }
        };
        for right in 1..symbols.len() as u32 {
            consider(symbols, pairs, right - 1, right);
        }
        while let Some(Reverse(Pair { left, ids, merged, .. })) = pairs.pop() {
            let Symbol { id, next: right, previous, .. } = symbols[left as usize];
            if right == NONE || (id, symbols[right as usize].id) != ids {
                continue;
            }
            let Symbol { end, next, .. } = symbols[right as usize];
            // The right symbol no longer exists: give it an id that no pair has.
            symbols[right as usize].id = NONE;
            let symbol = &mut symbols[left as usize];
            (symbol.id, symbol.end, symbol.next) = (merged, end, next);
            if next != NONE {
                symbols[next as usize].previous = left;
                consider(symbols, pairs, left, next);
            }
            if previous != NONE {
                consider(symbols, pairs, previous, left);
            }
        }
        let mut at = if symbols.is_empty() { NONE } else { 0 };
        while at != NONE {
            each(&symbols[at as usize]);
            at = symbols[at as usize].next;
        }
        symbols.clear();
    }
}
