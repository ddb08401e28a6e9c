//! Week 4: graphs, memory plans, splits and layouts.

use anyhow::{Result, bail, ensure};
use tiny_llm::week4::{
    by_size::lifetimes_of_parts,
    dot::dot,
    engine::Built,
    graph::NodeId,
    layout::Layout,
    lifetimes::{lifetimes, lower_bound, without_reuse},
    llama::PassShape,
    planner::MemoryPlan,
    scheduler::Ready,
    strided::Strided,
    svg::svg,
};
use tiny_llm_cli::{
    Divided, Drawn, GraphRequest, Holds, LayoutRequest, LayoutSeen, SplitSeen, Step, WIDTH,
};

use super::{mixture, week2::Week2};

/// Loads the request's model with week 2's engine. If the options select a graph, creates it too.
fn load(request: &GraphRequest<'_>) -> Result<Week2> {
    if mixture::is_mixture(request.model) {
        bail!("a model with experts cannot run as a graph");
    }
    Week2::load(request.model, request.options)
}

/// Returns how the graph of a forward pass is divided among the backends.
pub(crate) fn divided(request: &GraphRequest<'_>) -> Result<Divided> {
    let mut session = load(request)?.graph.expect("week 4's graph was asked for");
    let ready = session.divided(request.rows)?.expect("it runs on backends");
    let Ready { schedule, arenas, .. } = ready;
    let arenas = arenas.clone();
    let name = |&id: &NodeId| {
        let node = schedule.graph.node(id);
        (schedule.graph.label(node.sources[0]), 4 * node.layout.elements())
    };
    let splits = schedule.splits.iter().map(|split| SplitSeen {
        backend: split.backend,
        copies: split.copies.iter().map(name).collect(),
        operations: split.nodes.iter().map(|&id| schedule.graph.node(id).op.name()).collect(),
    });
    let splits = splits.collect();
    let scheduler = session.scheduler().expect("it runs on backends");
    let holds = scheduler.names().zip(scheduler.weights()).zip(arenas);
    let holds = holds.map(|((name, weights), arena)| Holds {
        name: name.to_owned(),
        in_place: weights.in_place,
        copied: weights.copied,
        arena,
    });
    Ok(Divided { backends: holds.collect(), splits })
}

/// Builds the graph of a forward pass in which only the last row needs logits.
fn built(request: &GraphRequest<'_>) -> Result<Built> {
    let model = load(request)?.session.model;
    Built::new(&model, PassShape { rows: request.rows, wanted: 1 })
}

/// Returns, for each method of memory planning, its name and the bytes that the graph of a forward
/// pass needs with it.
pub(crate) fn memory(request: &GraphRequest<'_>) -> Result<Vec<(&'static str, usize)>> {
    let Built { graph, order, logits, .. } = built(request)?;
    let lives = lifetimes(&graph, &order, &[logits]);
    let step_by_step = |in_place| MemoryPlan::of_some(&graph, &order, &lives, in_place);
    let by_size = |in_place| MemoryPlan::by_size(&graph, &lives, in_place);
    Ok(vec![
        ("a buffer for each node", without_reuse(&lives)),
        ("needed at once if no node is written in place", lower_bound(&lives)),
        ("one arena, by best fit", step_by_step(false)?.peak),
        ("one arena, the largest first", by_size(false)?.peak),
        (
            "needed at once if nodes are written in place where that is legal",
            lower_bound(&lifetimes_of_parts(&graph, &lives)),
        ),
        ("in place, by best fit", step_by_step(true)?.peak),
        ("in place, the largest first", by_size(true)?.peak),
    ])
}

/// Draws the graph of a forward pass.
pub(crate) fn drawn(request: &GraphRequest<'_>) -> Result<Drawn> {
    let Built { graph, order, .. } = built(request)?;
    let mut operations: Vec<(&str, usize)> = Vec::new();
    for &id in &order {
        let name = graph.node(id).op.name();
        match operations.iter_mut().find(|(other, _)| *other == name) {
            Some((_, n)) => *n += 1,
            None => operations.push((name, 1)),
        }
    }
    operations.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    Ok(Drawn { dot: dot(&graph, &order), svg: svg(&graph, &order), operations })
}

/// Maximum size in bytes of a tensor that is copied to draw its layout.
const MOST: usize = 1 << 24;

/// Returns a tensor's layout, initially and after each step.
pub(crate) fn layouts(request: &LayoutRequest) -> Result<Vec<LayoutSeen>> {
    let mut layout = Layout::from_torch(request.tensor_type, &request.shape)?;
    let mut all = vec![seen(&layout)];
    for step in &request.steps {
        layout = match step {
            Step::Transpose => layout.transpose()?,
            Step::Permute(axes) => layout.permute(*axes)?,
            Step::Broadcast(ne) => layout.broadcast(*ne)?,
            Step::View(ne, offset) => layout.view(*ne, layout.nb, *offset)?,
            Step::Reshape(sizes) => layout.reshape(sizes)?,
            Step::Contiguous => copied(&layout)?,
        };
        all.push(seen(&layout));
    }
    Ok(all)
}

/// Returns the layout of a contiguous copy of a tensor with the given layout.
fn copied(layout: &Layout) -> Result<Layout> {
    let copy = Layout::new(layout.tensor_type, &layout.ne)?;
    let bytes = layout.end().max(copy.end());
    ensure!(bytes <= MOST, "{layout}: found {bytes} bytes, expected at most {MOST} for a picture");
    let copied = Strided::new(*layout, &vec![0; layout.end()])?.contiguous();
    Strided::new(copy, &copied)?;
    Ok(copy)
}

fn seen(layout: &Layout) -> LayoutSeen {
    let row = |i1| {
        let blocks = 0..layout.blocks_in_row().min(WIDTH);
        let len = layout.tensor_type.block_len();
        blocks.map(|i0| layout.byte_of([i0 * len, i1, 0, 0])).collect()
    };
    LayoutSeen {
        ne: layout.ne,
        nb: layout.nb,
        contiguous: layout.is_contiguous(),
        bytes: (0..layout.ne[1].min(WIDTH)).map(row).collect(),
    }
}
