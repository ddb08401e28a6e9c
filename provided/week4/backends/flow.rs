//! Day 4. The cheapest way to cut a network in two.

use std::collections::VecDeque;

/// Points, and edges from one to another that cost something to cut. Two points are there from the
/// start: [`Network::FIRST`] and [`Network::LAST`], which must come to lie on different sides.
#[derive(Debug)]
pub struct Network {
    /// Ends of an edge and what is left of its cost. Edge `2i + 1` is edge `2i` turned round.
    edges: Vec<(usize, usize, usize)>,
    /// `[points]`, the edges that begin there.
    from: Vec<Vec<usize>>,
}

impl Network {
    /// The point on the first side.
    pub const FIRST: usize = 0;
    /// The point on the last side.
    pub const LAST: usize = 1;
    /// More than any sum of costs: what must not be cut.
    pub const NEVER: usize = usize::MAX / 4;

    /// Adds points to the first and the last; the next has number 2.
    #[must_use]
    pub fn new(points: usize) -> Self {
        Self { edges: Vec::new(), from: vec![Vec::new(); points + 2] }
    }

    /// Says that it costs `cost` to have `a` on the first side and `b` on the last. The other way
    /// round costs nothing.
    pub fn edge(&mut self, a: usize, b: usize, cost: usize) {
        for (a, b, cost) in [(a, b, cost), (b, a, 0)] {
            self.from[a].push(self.edges.len());
            self.edges.push((a, b, cost));
        }
    }

    /// The least that a cut can cost.
    ///
    /// As long as some way leads from the first point to the last, one of its edges must be cut:
    /// take what the cheapest of them costs off all of them, and look for another way. (The same
    /// amount flows back along the edges turned round: a later way may undo an earlier one.)
    pub fn cheapest_cut(&mut self) -> usize {
        let mut sum = 0;
        while let Some(way) = self.way() {
            let least = way.iter().map(|&e| self.edges[e].2).min().expect("not at the last yet");
            for e in way {
                self.edges[e].2 -= least;
                self.edges[e ^ 1].2 += least;
            }
            sum += least;
        }
        sum
    }

    /// The sides after [`Network::cheapest_cut`]: `[points]`, whether each lies on the last. If
    /// several cuts are as cheap, the one with as few points as can be on the last side.
    #[must_use]
    pub fn on_the_last_side(&self) -> Vec<bool> {
        let mut last = vec![false; self.from.len()];
        let mut open = vec![Self::LAST];
        last[Self::LAST] = true;
        while let Some(point) = open.pop() {
            // An edge that leads here is an edge from here, turned round.
            for &e in &self.from[point] {
                let (a, _, left) = self.edges[e ^ 1];
                if left > 0 && !last[a] {
                    last[a] = true;
                    open.push(a);
                }
            }
        }
        last
    }

    /// The edges of a shortest way from the first to the last along which something is left.
    fn way(&self) -> Option<Vec<usize>> {
        let mut by = vec![None; self.from.len()];
        let mut open = VecDeque::from([Self::FIRST]);
        while let Some(point) = open.pop_front() {
            for &e in &self.from[point] {
                let (_, b, left) = self.edges[e];
                if left > 0 && b != Self::FIRST && by[b].is_none() {
                    by[b] = Some(e);
                    open.push_back(b);
                }
            }
        }
        let mut way = Vec::new();
        let mut point = Self::LAST;
        while point != Self::FIRST {
            let e: usize = by[point]?;
            way.push(e);
            point = self.edges[e].0;
        }
        Some(way)
    }
}
