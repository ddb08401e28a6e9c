//! Day 3. Runs a graph in one arena, according to its memory plan.

use std::ops::Range;

use crate::week2::cache::KvCache;
use crate::week4::{
    execute::Products,
    graph::{Graph, NodeId},
    kernels::{compute, overwrite},
    op::Op,
    planner::MemoryPlan,
    step::Step,
};

/// Computes graphs whose values are all stored in one arena.
#[derive(Debug, Default)]
pub struct PlannedExecutor {
    arena: Vec<f32>,
    products: Products,
}

impl PlannedExecutor {
    /// Computes the nodes in `order`, each in its part of the arena. The arena's earlier contents
    /// don't matter.
    ///
    /// # Panics
    /// If the plan was made for another order. Also if a node's part overlaps the part of one of
    /// its sources. Only a node that overwrites its first source may overlap that source.
    pub fn run<C: KvCache>(
        &mut self,
        graph: &Graph,
        order: &[NodeId],
        memory: &MemoryPlan,
        step: &mut Step<'_, C>,
    ) {
        self.products.forget();
        if self.arena.len() < memory.peak / 4 {
            self.arena.resize(memory.peak / 4, 0.0);
        }
        step.plan.team.enter();
        for &id in order {
            let op = &graph.node(id).op;
            if !op.is_leaf() && !op.is_view() {
                self.node(graph, id, memory, step);
            }
        }
    }

    /// Returns the values of a node. They are valid until another node is computed in the same part
    /// of the arena.
    ///
    /// # Panics
    /// If the node has no part.
    #[must_use]
    pub fn values(&self, graph: &Graph, memory: &MemoryPlan, id: NodeId) -> &[f32] {
        &self.arena[numbers(graph, memory, graph.root(id))]
    }

    /// Fills the arena with NaN, to reveal values that are read before they are written.
    pub fn poison(&mut self) {
        self.arena.fill(f32::NAN);
    }

    fn node<C: KvCache>(
        &mut self,
        graph: &Graph,
        id: NodeId,
        memory: &MemoryPlan,
        step: &mut Step<'_, C>,
    ) {
        let node = graph.node(id);
        let own = numbers(graph, memory, id);
        // The range of each source that is in the arena. Other values are in the graph. Weights and
        // tokens have no values.
        let mut ranges = [const { None }; 2];
        let mut sources = [&[][..]; 2];
        for (i, &source) in node.sources.iter().enumerate() {
            let root = graph.root(source);
            match &graph.node(root).op {
                Op::Values(values) => sources[i] = values,
                Op::Weight(_) | Op::Tokens => {}
                _ => ranges[i] = Some(numbers(graph, memory, root)),
            }
        }
        if ranges[0].as_ref().is_some_and(|first| first.start == own.start) {
            let (out, others) = lend(&mut self.arena, own, [None, ranges[1].clone()]);
            overwrite(graph, id, others[1].unwrap_or(sources[1]), step, out);
            return;
        }
        let (out, lent) = lend(&mut self.arena, own, ranges);
        for (source, lent) in sources.iter_mut().zip(lent) {
            *source = lent.unwrap_or(*source);
        }
        match node.op {
            Op::MulMat => self.products.multiply(graph, id, sources, step.plan, out),
            _ => compute(graph, id, sources, step, out),
        }
    }
}

/// Returns a node's part of the arena as a range of f32 elements.
fn numbers(graph: &Graph, memory: &MemoryPlan, id: NodeId) -> Range<usize> {
    let part = memory.parts[id.index()].as_ref();
    let part = part.unwrap_or_else(|| panic!("{} has no part of the arena", graph.told(id)));
    let start = part.start / 4;
    start..start + graph.layout(id).elements()
}

/// A part of the arena to write, and up to two parts to read.
pub(crate) type Lent<'a> = (&'a mut [f32], [Option<&'a [f32]>; 2]);

/// Borrows several parts of `arena` at once: `own` for writing, and the parts in `read` for
/// reading.
///
/// # Panics
/// If the part to write overlaps a part to read. Also if two parts to read overlap, unless they are
/// equal.
pub(crate) fn lend(
    arena: &mut [f32],
    own: Range<usize>,
    read: [Option<Range<usize>>; 2],
) -> Lent<'_> {
    let apart = "the parts of the arena that a step writes and reads must not overlap";
    match read {
        [None, None] => (&mut arena[own], [None, None]),
        [Some(one), None] => {
            let [own, one] = arena.get_disjoint_mut([own, one]).expect(apart);
            (own, [Some(one), None])
        }
        [None, Some(one)] => {
            let [own, one] = arena.get_disjoint_mut([own, one]).expect(apart);
            (own, [None, Some(one)])
        }
        [Some(one), Some(other)] if one == other => {
            let [own, one] = arena.get_disjoint_mut([own, one]).expect(apart);
            let one: &[f32] = one;
            (own, [Some(one), Some(one)])
        }
        [Some(one), Some(other)] => {
            let [own, one, other] = arena.get_disjoint_mut([own, one, other]).expect(apart);
            (own, [Some(one), Some(other)])
        }
    }
}
