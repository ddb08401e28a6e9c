//! Week 4: what its days show.

use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use tiny_llm::{
    week2::{cache::CacheType, generate::Session},
    week4::{
        backend::Backend,
        by_size::lifetimes_of_parts,
        cpu::Cpu,
        dot::dot,
        engine::{Built, GraphSession},
        graph::NodeId,
        layout::Layout,
        lifetimes::{lifetimes, lower_bound, without_reuse},
        llama::PassShape,
        op::Op,
        planner::MemoryPlan,
        scheduler::{Ready, Scheduler},
        strided::Strided,
        svg::svg,
        twin::Twin,
    },
};
use tiny_llm_cli::{
    Divided, Drawn, GraphRequest, Holds, LayoutRequest, LayoutSeen, LoadOptions, SplitSeen, Step,
    WIDTH, WrongOption,
};

use super::{mixture, week2::Week2};

/// The model as a graph, if `--engine` asks for it.
pub(crate) fn session(
    options: &LoadOptions,
    session: &Session,
    cache_type: CacheType,
) -> Result<Option<GraphSession>> {
    let wrong = |problem: String| Err(WrongOption(problem).into());
    let engine = options.engine.as_deref();
    match engine {
        None | Some("direct") if options.backend.is_some() => {
            return wrong("--backend: expected --engine graph, which runs on backends".to_owned());
        }
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
    Ok(Some(match (engine, options.backend.as_deref()) {
        (Some("arena"), Some(_)) => {
            return wrong(
                "--backend: found with --engine arena, expected --engine graph".to_owned(),
            );
        }
        (Some("arena"), None) => session.in_an_arena(),
        (_, Some(name)) => session.on(Scheduler::new(backends(name)?)),
        (_, None) => session,
    }))
}

/// Backends of this name, the preferred one first.
fn backends(name: &str) -> Result<Vec<Box<dyn Backend>>> {
    let cpu = || Box::new(Cpu::default());
    match (name, name.split_once(':')) {
        ("cpu", _) => Ok(vec![cpu()]),
        ("gpu", _) => Ok(vec![gpu()?, cpu()]),
        ("auto", _) => Ok(match gpu() {
            Ok(gpu) => vec![gpu, cpu()],
            Err(_) => vec![cpu()],
        }),
        ("twin", _) => Ok(vec![Box::new(Twin::default()), cpu()]),
        (_, Some(("twin", operations))) => {
            let lacks: Vec<&str> = operations.split(',').collect();
            if let Some(other) = lacks.iter().find(|name| !Op::NAMES.contains(name)) {
                let names = Op::NAMES.join(", ");
                let problem = format!("--backend: found the operation {other:?}, expected {names}");
                return Err(WrongOption(problem).into());
            }
            Ok(vec![Box::new(Twin::without(&lacks)), cpu()])
        }
        _ => {
            let problem =
                format!("--backend: found {name:?}, expected cpu, gpu, auto, twin or twin:OP,OP…");
            Err(WrongOption(problem).into())
        }
    }
}

/// The graphics processor (day 5).
fn gpu() -> Result<Box<dyn Backend>> {
    #[cfg(feature = "gpu")]
    return Ok(Box::new(tiny_llm::week4::gpu::backend::GpuBackend::open()?));
    #[cfg(not(feature = "gpu"))]
    anyhow::bail!(
        "--backend gpu: found a program built without graphics processors, expected cargo llm-gpu"
    )
}

/// On what a graph runs, for people.
pub(crate) fn described(session: &GraphSession) -> String {
    let Some(scheduler) = session.scheduler() else { return ", as a graph".to_owned() };
    format!(", as a graph on {}", scheduler.names().collect::<Vec<_>>().join(" and "))
}

/// The model of week 2's engine, which has a graph.
fn load(request: &GraphRequest<'_>) -> Result<Week2> {
    if mixture::is_mixture(request.model) {
        bail!("a model with experts has no graph here");
    }
    Week2::load(request.model, request.options)
}

/// How the backends divide a pass among them.
pub(crate) fn divided(request: &GraphRequest<'_>) -> Result<Divided> {
    let mut session = load(request)?.graph.expect("week 4's graph was asked for");
    let ready = session.divided(request.rows)?.expect("it runs on backends");
    let Ready { schedule, arenas, .. } = ready;
    let arenas = arenas.clone();
    let name = |&id: &NodeId| {
        let node = schedule.graph.node(id);
        let source = &schedule.graph.node(node.sources[0]).op;
        let name = format!("{}{}", node.name, source.name());
        (name, 4 * node.layout.elements())
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

/// The graph of a pass whose last row wants logits.
fn built(request: &GraphRequest<'_>) -> Result<Built> {
    let model = load(request)?.session.model;
    Built::new(&model, PassShape { rows: request.rows, wanted: 1 })
}

/// Bytes that the graph of a pass needs.
pub(crate) fn memory(request: &GraphRequest<'_>) -> Result<Vec<(&'static str, usize)>> {
    let Built { graph, order, logits, .. } = built(request)?;
    let lives = lifetimes(&graph, &order, &[logits]);
    let step_by_step = |in_place| MemoryPlan::of_some(&graph, &order, &lives, in_place);
    let by_size = |in_place| MemoryPlan::by_size(&graph, &lives, in_place);
    Ok(vec![
        ("a buffer for each node", without_reuse(&lives)),
        ("needed at once: no plan can do without", lower_bound(&lives)),
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

/// The graph of a pass as a picture.
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
