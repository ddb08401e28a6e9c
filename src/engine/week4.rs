//! Week 4: what its days show.

use std::sync::Arc;

use anyhow::{Result, ensure};
use tiny_llm::{
    week2::{cache::CacheType, generate::Session, model::Model},
    week4::{
        dot::dot,
        engine::{Built, GraphSession},
        layout::Layout,
        lifetimes::{lifetimes, lower_bound, without_reuse},
        llama::PassShape,
        planner::MemoryPlan,
        strided::Strided,
        svg::svg,
    },
};
use tiny_llm_cli::{Drawn, LayoutRequest, LayoutSeen, LoadOptions, Step, WIDTH, WrongOption};

/// The model as a graph, if `--engine` asks for it.
pub(crate) fn session(
    options: &LoadOptions,
    session: &Session,
    cache_type: CacheType,
) -> Result<Option<GraphSession>> {
    let wrong = |problem: String| Err(WrongOption(problem).into());
    match options.engine.as_deref() {
        None | Some("direct") => return Ok(None),
        Some("graph" | "arena") => {}
        Some(other) => {
            return wrong(format!("--engine: found {other:?}, expected direct, graph or arena"));
        }
    }
    for (given, option) in [
        (options.draft.is_some(), "--draft"),
        (options.cache_file.is_some(), "--cache"),
        (options.no_cache, "--no-cache"),
    ] {
        if given {
            return wrong(format!("{option}: found with --engine graph, expected one of them"));
        }
    }
    let (model, plan) = (Arc::clone(&session.model), Arc::clone(&session.plan));
    let context = model.config.max_positions;
    let session = GraphSession::new(model, plan, context, cache_type);
    let arena = options.engine.as_deref() == Some("arena");
    Ok(Some(if arena { session.in_an_arena() } else { session }))
}

/// What the graph of such a pass needs of memory.
pub(crate) fn memory(model: &Model, rows: usize) -> Result<Vec<(&'static str, usize)>> {
    let Built { graph, order, logits, .. } = Built::new(model, PassShape { rows, wanted: 1 })?;
    let lives = lifetimes(&graph, &order, &[logits]);
    let peak =
        |in_place| MemoryPlan::new(&graph, &order, &[logits], in_place).map(|memory| memory.peak);
    Ok(vec![
        ("a buffer for each node", without_reuse(&lives)),
        ("what no plan can do without", lower_bound(&lives)),
        ("one arena, planned", peak(false)?),
        ("the same, in place where that is legal", peak(true)?),
    ])
}

/// The graph of a pass of so many rows, of which the last wants logits.
pub(crate) fn drawn(model: &Model, rows: usize) -> Result<Drawn> {
    let Built { graph, order, .. } = Built::new(model, PassShape { rows, wanted: 1 })?;
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

/// More bytes than that are not copied for a picture.
const MOST: usize = 1 << 24;

/// A tensor's layout, and after each step.
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

/// The layout of a contiguous copy.
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
