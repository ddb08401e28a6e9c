//! Deterministic automata: each byte leads from a state to at most one next state.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use crate::nfa::{Nfa, TooLarge};

/// Maximum number of states in all automata of a schema together.
pub(crate) const MOST_PLACES: usize = 250_000;
/// Maximum number of steps for converting a graph ([`Nfa`]) to an automaton.
const MOST_WORK: usize = 5_000_000;

/// The distance of a state from which no accepting state can be reached.
const NEVER: u32 = u32::MAX;

/// An automaton under construction: the edges of each state, and the tags of accepting states. The
/// first state is the start.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) edges: Vec<Vec<(u8, u8, u32)>>,
    pub(crate) tags: Vec<Option<u32>>,
    /// For each state, whether a character of a string has just ended.
    pub(crate) between: Vec<bool>,
}

/// All automata of a schema. From every state, an accepting state can be reached.
#[derive(Debug, Default)]
pub(crate) struct Dfa {
    edges: Vec<(u8, u8, u32)>,
    places: Vec<Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    /// The state's edges are `Dfa::edges[first..last]`.
    first: u32,
    last: u32,
    tag: Option<u32>,
    /// The first byte of the path that [`Dfa::close`] takes.
    byte: u8,
}

impl Dfa {
    /// Returns the state to which `byte` leads from the state `place`, if there is one.
    pub(crate) fn next(&self, place: u32, byte: u8) -> Option<u32> {
        let edges = self.edges(place);
        let at = edges.partition_point(|&(_, last, _)| last < byte);
        edges.get(at).filter(|&&(first, ..)| first <= byte).map(|&(.., to)| to)
    }

    /// Returns the tag of a state, if it is accepting.
    pub(crate) fn tag(&self, place: u32) -> Option<u32> {
        self.places[place as usize].tag
    }

    pub(crate) fn edges(&self, place: u32) -> &[(u8, u8, u32)] {
        let Place { first, last, .. } = self.places[place as usize];
        &self.edges[first as usize..last as usize]
    }

    /// Appends to `text` the bytes that lead from the state `place` to an accepting state, and
    /// returns that state. Chooses the fewest bytes, including the accepting state's cost (see
    /// [`Dfa::add`]). Of several such texts, chooses the first in byte order.
    pub(crate) fn close(&self, mut place: u32, text: &mut Vec<u8>) -> u32 {
        while self.tag(place).is_none() {
            let byte = self.places[place as usize].byte;
            text.push(byte);
            place = self.next(place, byte).expect("every place leads to an end");
        }
        place
    }

    /// Adds an automaton and returns its start state, or `None` if it accepts no text. `cost(tag)`
    /// is the number of bytes that are still needed after an accepting state with that tag.
    ///
    /// # Errors
    /// If there are too many states.
    pub(crate) fn add(
        &mut self,
        raw: &Raw,
        cost: impl Fn(u32) -> u32,
    ) -> Result<Option<u32>, TooLarge> {
        let steps = distances(raw, cost);
        if steps[0] == NEVER {
            return Ok(None);
        }
        let mut names = vec![NEVER; steps.len()];
        let mut next = self.places.len() as u32;
        for (name, _) in names.iter_mut().zip(&steps).filter(|(_, steps)| **steps < NEVER) {
            *name = next;
            next += 1;
        }
        if next as usize > MOST_PLACES {
            return Err(TooLarge);
        }
        for (place, edges) in raw.edges.iter().enumerate() {
            if steps[place] == NEVER {
                continue;
            }
            let first = self.edges.len() as u32;
            let mut byte = 0;
            for &(low, high, to) in edges.iter().rev() {
                if steps[to as usize].saturating_add(1) == steps[place] {
                    byte = low;
                }
                if steps[to as usize] < NEVER {
                    self.edges.push((low, high, names[to as usize]));
                }
            }
            self.edges[first as usize..].reverse();
            let last = self.edges.len() as u32;
            let tag = raw.tags[place];
            self.places.push(Place { first, last, tag, byte });
        }
        Ok(Some(names[0]))
    }

    /// Returns whether some text is accepted from both states. Also returns true if too many pairs
    /// of states would have to be compared.
    pub(crate) fn meet(&self, a: u32, b: u32) -> bool {
        let (mut seen, mut open) = (std::collections::HashSet::new(), vec![(a, b)]);
        while let Some((a, b)) = open.pop() {
            if self.tag(a).is_some() && self.tag(b).is_some() {
                return true;
            }
            // Automata that are too large to compare count as overlapping.
            if seen.len() > MOST_PLACES {
                return true;
            }
            if !seen.insert((a, b)) {
                continue;
            }
            for &(low, high, to) in self.edges(a) {
                for &(from, until, other) in self.edges(b) {
                    if low <= until && from <= high {
                        open.push((to, other));
                    }
                }
            }
        }
        false
    }

    /// Returns the number of states.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }
}

/// Returns the number of bytes that each state still needs: the length of a path to an accepting
/// state plus that state's cost. Of several paths, the one with the smallest sum counts.
fn distances(raw: &Raw, cost: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut back: Vec<Vec<u32>> = vec![Vec::new(); raw.edges.len()];
    for (from, edges) in raw.edges.iter().enumerate() {
        for &(.., to) in edges {
            back[to as usize].push(from as u32);
        }
    }
    let mut steps = vec![NEVER; raw.edges.len()];
    let mut open = BinaryHeap::new();
    for (place, tag) in raw.tags.iter().enumerate() {
        if let Some(tag) = tag {
            steps[place] = cost(*tag);
            open.push(Reverse((steps[place], place as u32)));
        }
    }
    while let Some(Reverse((known, place))) = open.pop() {
        if known > steps[place as usize] {
            continue;
        }
        for &from in &back[place as usize] {
            if known.saturating_add(1) < steps[from as usize] {
                steps[from as usize] = known + 1;
                open.push(Reverse((known + 1, from)));
            }
        }
    }
    steps
}

impl Raw {
    /// Converts a graph to an automaton. Each state of the automaton is a set of states of the
    /// graph. If these have several tags, the automaton's state gets the smallest.
    ///
    /// # Errors
    /// If the automaton becomes too large.
    pub(crate) fn of(nfa: &Nfa) -> Result<Self, TooLarge> {
        nfa.check()?;
        let mut raw = Self::default();
        let (mut names, mut sets) = (HashMap::new(), Vec::new());
        let mut work = 0;
        let start = closure(nfa, vec![0], &mut work);
        let mut name = |set: Vec<u32>, sets: &mut Vec<Vec<u32>>| {
            *names.entry(set.clone()).or_insert_with(|| {
                sets.push(set);
                sets.len() as u32 - 1
            })
        };
        name(start, &mut sets);
        let mut at = 0;
        while at < sets.len() {
            let set = sets[at].clone();
            let spots = || set.iter().map(|&spot| &nfa.spots[spot as usize]);
            raw.tags.push(spots().filter_map(|spot| spot.tag).min());
            raw.between.push(spots().any(|spot| spot.between));
            let all: Vec<_> = spots().flat_map(|spot| &spot.edges).copied().collect();
            let mut cuts: Vec<u16> = Vec::new();
            for &(first, last, _) in &all {
                cuts.extend([u16::from(first), u16::from(last) + 1]);
            }
            cuts.sort_unstable();
            cuts.dedup();
            let mut edges = Vec::new();
            for pair in cuts.windows(2) {
                let (first, last) = (pair[0] as u8, (pair[1] - 1) as u8);
                work += all.len();
                let within = |&&(low, high, _): &&(u8, u8, u32)| low <= first && last <= high;
                let to: Vec<u32> = all.iter().filter(within).map(|&(.., to)| to).collect();
                if !to.is_empty() {
                    let to = name(closure(nfa, to, &mut work), &mut sets);
                    push(&mut edges, (first, last, to));
                }
            }
            raw.edges.push(edges);
            if sets.len() > MOST_PLACES || work > MOST_WORK {
                return Err(TooLarge);
            }
            at += 1;
        }
        Ok(raw)
    }

    /// Builds an automaton from its start state. `next` returns the state after a byte. `is_end`
    /// returns whether a state is accepting.
    ///
    /// # Errors
    /// If the automaton becomes too large.
    pub(crate) fn explore<S: Clone + Eq + std::hash::Hash>(
        start: S,
        next: impl Fn(&S, u8) -> Option<S>,
        is_end: impl Fn(&S) -> bool,
    ) -> Result<Self, TooLarge> {
        let mut raw = Self::default();
        let mut names = HashMap::from([(start.clone(), 0)]);
        let mut states = vec![start];
        let mut at = 0;
        while at < states.len() {
            let state = states[at].clone();
            raw.tags.push(is_end(&state).then_some(0));
            raw.between.push(false);
            let mut edges = Vec::new();
            for byte in 0..=255 {
                if let Some(to) = next(&state, byte) {
                    let to = *names.entry(to.clone()).or_insert_with(|| {
                        states.push(to);
                        states.len() as u32 - 1
                    });
                    push(&mut edges, (byte, byte, to));
                }
            }
            raw.edges.push(edges);
            if states.len() > MOST_PLACES {
                return Err(TooLarge);
            }
            at += 1;
        }
        Ok(raw)
    }

    /// Returns the state to which `byte` leads from the state `place`, if there is one.
    pub(crate) fn next(&self, place: u32, byte: u8) -> Option<u32> {
        let edges = &self.edges[place as usize];
        edges.iter().find(|&&(low, high, _)| low <= byte && byte <= high).map(|&(.., to)| to)
    }
}

/// Adds an edge. Adjacent ranges that lead to the same state are merged.
fn push(edges: &mut Vec<(u8, u8, u32)>, (first, last, to): (u8, u8, u32)) {
    match edges.last_mut() {
        Some((_, end, same)) if *same == to && u16::from(*end) + 1 == u16::from(first) => {
            *end = last;
        }
        _ => edges.push((first, last, to)),
    }
}

/// Returns `set` and all states that can be reached from it without reading a byte.
fn closure(nfa: &Nfa, mut set: Vec<u32>, work: &mut usize) -> Vec<u32> {
    set.sort_unstable();
    set.dedup();
    let mut at = 0;
    let mut seen: std::collections::HashSet<u32> = set.iter().copied().collect();
    while at < set.len() {
        for &to in &nfa.spots[set[at] as usize].free {
            if seen.insert(to) {
                set.push(to);
            }
        }
        at += 1;
        if *work > MOST_WORK {
            break;
        }
    }
    *work += set.len();
    set.sort_unstable();
    set
}
