//! Day 2. Implements each operation with week 2's kernels.

use crate::week2::{
    kernels::{
        naive::decode_row,
        vector::{rms_norm, rms_norm_in_place, silu_gate},
    },
    parallel::Team,
    plan::ROWS,
    rows::Queries,
};
use crate::week4::{
    graph::{Graph, NodeId},
    layout::Layout,
    op::Op,
    product::mul_mat,
    step::{Step, StepCache},
    strided::Strided,
};

/// Returns the values of a node, or of its root if it is a view.
///
/// # Panics
/// If the values haven't been computed.
pub(crate) fn values<'a>(graph: &'a Graph, id: NodeId, buffers: &'a [Vec<f32>]) -> &'a [f32] {
    let root = graph.root(id);
    if let Op::Values(values) = &graph.node(root).op {
        return values;
    }
    let (found, expected) = (&buffers[root.index()], graph.layout(root).elements());
    assert!(
        found.len() == expected,
        "{}: found {} numbers, expected {expected}; a node must be computed before it is read",
        graph.told(root),
        found.len()
    );
    found
}

/// Returns the values of a node's sources. Weights, their views, and tokens have an empty slice.
///
/// # Panics
/// If the values haven't been computed.
pub(crate) fn sources<'a>(graph: &'a Graph, id: NodeId, buffers: &'a [Vec<f32>]) -> [&'a [f32]; 2] {
    let mut sources = [&[][..]; 2];
    for (numbers, &source) in sources.iter_mut().zip(&graph.node(id).sources) {
        if !matches!(graph.node(graph.root(source)).op, Op::Weight(_) | Op::Tokens) {
            *numbers = values(graph, source, buffers);
        }
    }
    sources
}

/// Copies the elements of `values` to `out`, in order of their indices. `layout` describes
/// `values`.
pub(crate) fn copy(layout: Layout, values: &[f32], out: &mut [f32]) {
    if layout.is_contiguous() {
        out.copy_from_slice(values);
    } else {
        let from = Strided::new(layout, bytemuck::cast_slice(values));
        out.copy_from_slice(&from.expect("a view was checked when it was made").to_f32());
    }
}

/// Like [`copy`], but uses several threads if the layout is contiguous.
pub(crate) fn copy_rows(team: &Team, layout: Layout, values: &[f32], out: &mut [f32]) {
    if !layout.is_contiguous() {
        return copy(layout, values, out);
    }
    let width = layout.ne[0];
    team.parallel_rows(out, width, ROWS, |t, out| {
        out.copy_from_slice(&values[t * width..][..width]);
    });
}

/// Computes a node from its [`sources`]. The node must not be a product, a leaf or a view. `out`
/// has the length of the result.
pub(crate) fn compute<C: StepCache + ?Sized>(
    graph: &Graph,
    id: NodeId,
    sources: [&[f32]; 2],
    step: &mut Step<'_, C>,
    out: &mut [f32],
) {
    let node = graph.node(id);
    let (team, rows) = (&step.plan.team, step.rows);
    let source = |i: usize| sources[i];
    let width = node.layout.ne[0];
    match &node.op {
        Op::Embed => {
            let Op::Weight(table) = &graph.node(node.sources[0]).op else {
                panic!("{}: expected a weight as the table", graph.told(id))
            };
            team.parallel_rows(out, width, 1, |t, x| {
                decode_row(table, rows[t].token as usize, x);
            });
        }
        Op::Add => {
            let (x, y) = (source(0), source(1));
            if is_by_rows(graph, id, y) {
                team.parallel_rows(out, width, ROWS, |t, out| {
                    let y = &y[t * width % y.len()..];
                    let sums = x[t * width..].iter().zip(y).map(|(x, y)| x + y);
                    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum);
                });
            } else {
                let wide = graph.layout(node.sources[1]).broadcast(node.layout.ne);
                let wide = wide.expect("sizes were checked when the node was made");
                let bytes = bytemuck::cast_slice(y);
                let y = Strided::new(wide, bytes).expect("as many bytes").to_f32();
                out.iter_mut().zip(x).zip(y).for_each(|((out, x), y)| *out = x + y);
            }
        }
        Op::RmsNorm { eps } => {
            let (x, weight) = (source(0), source(1));
            team.parallel_rows(out, width, ROWS, |t, out| {
                rms_norm(&x[t * width..][..width], weight, *eps, out);
            });
        }
        Op::Rope => {
            let (x, (table, layout)) = (source(0), step.rope);
            let size = width * node.layout.ne[1];
            team.parallel_rows(out, size, ROWS, |t, out| {
                out.copy_from_slice(&x[t * size..][..size]);
                table.rotate(out, rows[t].position, layout);
            });
        }
        Op::SiluGate => {
            let (gate, up) = (source(0), source(1));
            team.parallel_rows(out, width, ROWS, |t, out| {
                let at = t * width..(t + 1) * width;
                silu_gate(&gate[at.clone()], &up[at], out);
            });
        }
        Op::Store { layer } => {
            let size = graph.layout(node.sources[0]).elements() / rows.len();
            let (keys, values) = (source(0).chunks_exact(size), source(1).chunks_exact(size));
            for ((row, k), v) in rows.iter().zip(keys).zip(values) {
                step.cache.put(*layer, row, k, v);
            }
        }
        Op::Attend { layer } => {
            let [head_dim, heads, ..] = graph.layout(node.sources[0]).ne;
            let group = heads / step.cache.sizes().kv_heads;
            let queries = Queries { rows, q: source(0), group, head_dim };
            step.cache.answer(step.plan, *layer, queries, out);
        }
        Op::Wanted => {
            let wanted = source(0).chunks_exact(width).zip(rows).filter(|(_, row)| row.logits);
            for ((x, _), out) in wanted.zip(out.chunks_exact_mut(width)) {
                out.copy_from_slice(x);
            }
        }
        Op::Contiguous | Op::Copy => copy(graph.layout(node.sources[0]), source(0), out),
        Op::Weight(_) | Op::Values(_) | Op::Tokens | Op::Reshape | Op::Permute | Op::MulMat => {
            unreachable!("{} has no kernel", graph.told(id))
        }
    }
}

/// Returns whether a sum can be computed row by row. It can if `y`, the values of the second
/// operand, is a single row or has as many elements as the first operand. Returns false if a column
/// is broadcast along the rows.
fn is_by_rows(graph: &Graph, id: NodeId, y: &[f32]) -> bool {
    let node = graph.node(id);
    let b = graph.layout(node.sources[1]);
    b.ne[0] == node.layout.ne[0]
        && (y.len() == node.layout.ne[0] || y.len() == node.layout.elements())
}

/// Number of elements that `silu_gate` processes at once when its result overwrites its source.
const PART: usize = 256;

/// Computes a node in the memory of its first source. `out` holds the first source's values and
/// receives the result. `other` holds the second source's values.
pub(crate) fn overwrite<C: StepCache + ?Sized>(
    graph: &Graph,
    id: NodeId,
    other: &[f32],
    step: &Step<'_, C>,
    out: &mut [f32],
) {
    let (node, team) = (graph.node(id), &step.plan.team);
    let width = node.layout.ne[0];
    match &node.op {
        Op::Add if is_by_rows(graph, id, other) => {
            team.parallel_rows(out, width, ROWS, |t, out| {
                let other = &other[t * width % other.len()..];
                out.iter_mut().zip(other).for_each(|(x, y)| *x += y);
            });
        }
        Op::Add => {
            let wide = graph.layout(node.sources[1]).broadcast(node.layout.ne);
            let wide = wide.expect("sizes were checked when the node was made");
            let other = Strided::new(wide, bytemuck::cast_slice(other)).expect("as many bytes");
            out.iter_mut().zip(other.to_f32()).for_each(|(x, y)| *x += y);
        }
        Op::RmsNorm { eps } => {
            team.parallel_rows(out, width, ROWS, |_, out| rms_norm_in_place(out, other, *eps));
        }
        Op::Rope => {
            let (table, layout) = step.rope;
            team.parallel_rows(out, width * node.layout.ne[1], ROWS, |t, out| {
                table.rotate(out, step.rows[t].position, layout);
            });
        }
        Op::SiluGate => {
            team.parallel_rows(out, width, ROWS, |t, out| {
                let up = &other[t * width..][..width];
                for (out, up) in out.chunks_mut(PART).zip(up.chunks(PART)) {
                    let mut gate = [0.0; PART];
                    gate[..out.len()].copy_from_slice(out);
                    silu_gate(&gate[..out.len()], up, out);
                }
            });
        }
        _ => unreachable!("{} does not overwrite its source", graph.told(id)),
    }
}

/// Multiplies two nodes with day 1's [`mul_mat`]. Reads weights from the graph, and the values of
/// other nodes from `sources`.
pub(crate) fn product_of_values(
    graph: &Graph,
    nodes: [NodeId; 2],
    sources: [&[f32]; 2],
    out: &mut [f32],
) {
    let side = |i: usize| {
        let bytes = match &graph.node(graph.root(nodes[i])).op {
            Op::Weight(weight) => weight.bytes(),
            _ => bytemuck::cast_slice(sources[i]),
        };
        Strided::new(graph.layout(nodes[i]), bytes).expect("a view was checked when it was made")
    };
    let (_, found) = mul_mat(side(0), side(1)).expect("sizes were checked when the node was made");
    out.copy_from_slice(&found);
}

impl Graph {
    /// Returns the longest block length among the weights that are multiplied by `input`.
    #[must_use]
    pub fn longest_block(&self, input: NodeId) -> usize {
        let known = self.blocks.get_or_init(|| self.longest_blocks());
        // If the graph has grown since then, compute the result again.
        if known.len() == self.len() {
            known[input.index()]
        } else {
            self.longest_blocks()[input.index()]
        }
    }

    fn longest_blocks(&self) -> Vec<usize> {
        let mut longest = vec![1; self.len()];
        for id in self.ids() {
            if let (Op::MulMat, &[a, b]) = (&self.node(id).op, &*self.node(id).sources) {
                let one = &mut longest[b.index()];
                *one = self.layout(a).tensor_type.block_len().max(*one);
            }
        }
        longest
    }
}
