//! Day 4. Computes the cheapest cut of a network.

use std::collections::VecDeque;

/// A network of points and edges. Cutting an edge has a cost. A cut divides the points into two
/// sides: the first side has [`Network::FIRST`], and the last side has [`Network::LAST`].
#[derive(Debug)]
pub struct Network {
    /// Start, end and remaining capacity of each edge. Edge `2i + 1` is edge `2i` reversed.
    edges: Vec<(usize, usize, usize)>,
    /// The edges that begin at each point, `[points]`.
    from: Vec<Vec<usize>>,
}

impl Network {
    /// The point that every cut puts on the first side.
    pub const FIRST: usize = 0;
    /// The point that every cut puts on the last side.
    pub const LAST: usize = 1;
    /// The cost of an edge that must not be cut: more than any sum of other costs.
    pub const NEVER: usize = usize::MAX / 4;

    /// Creates a network with `points` points besides `FIRST` and `LAST`, numbered from 2.
    #[must_use]
    pub fn new(points: usize) -> Self {
        Self { edges: Vec::new(), from: vec![Vec::new(); points + 2] }
    }

    /// Adds an edge. A cut with `a` on the first side and `b` on the last pays `cost` for it. A cut
    /// with `b` on the first side and `a` on the last pays nothing.
    pub fn edge(&mut self, a: usize, b: usize, cost: usize) {
        for (a, b, cost) in [(a, b, cost), (b, a, 0)] {
            self.from[a].push(self.edges.len());
            self.edges.push((a, b, cost));
        }
    }

    /// Returns the minimum cost of a cut.
    ///
    /// As long as a path leads from the first point to the last, one of its edges must be cut. So
    /// the algorithm subtracts the smallest capacity on the path from all edges of the path, and
    /// looks for another path. The result is the sum of the subtracted amounts. (The same amount is
    /// added to the reversed edges, so that a later path can undo part of an earlier one.)
    pub fn cheapest_cut(&mut self) -> usize {
        let mut sum = 0;
        while let Some(way) = self.way() {
            let least = way.iter().map(|&e| self.edges[e].2).min().expect("a path has an edge");
            for e in way {
                self.edges[e].2 -= least;
                self.edges[e ^ 1].2 += least;
            }
            sum += least;
        }
        sum
    }

    /// Returns `[points]`: whether the cheapest cut puts each point on the last side. If several
    /// cuts are equally cheap, uses the one with the fewest points on the last side. Requires an
    /// earlier call to [`Network::cheapest_cut`].
    #[must_use]
    pub fn on_the_last_side(&self) -> Vec<bool> {
        let mut last = vec![false; self.from.len()];
        let mut open = vec![Self::LAST];
        last[Self::LAST] = true;
        while let Some(point) = open.pop() {
            // Every edge that ends at this point is the reverse of one that begins at it.
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

    /// Finds a shortest path from `FIRST` to `LAST` on which every edge has capacity left. Returns
    /// the path's edges, last to first. Returns `None` if there is no such path.
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
