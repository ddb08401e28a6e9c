//! Creates the session that runs a model as a graph.

use std::sync::Arc;

use anyhow::Result;
use tiny_llm::{
    week2::{cache::CacheType, generate::Session},
    week4::{
        backend::Backend, cpu::Cpu, engine::GraphSession, op::Op, scheduler::Scheduler, twin::Twin,
    },
};
use tiny_llm_cli::{LoadOptions, WrongOption};

/// Returns a session that runs the model as a graph, if `--engine` selects a graph.
pub(crate) fn session(
    options: &LoadOptions,
    session: &Session,
    cache_type: CacheType,
) -> Result<Option<GraphSession>> {
    let wrong = |problem: String| Err(WrongOption(problem).into());
    let engine = options.engine.as_deref();
    match engine {
        None | Some("direct") if options.backend.is_some() => {
            return wrong(
                "--backend: only a graph runs on backends; use --engine graph".to_owned(),
            );
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
        (options.repack, "--repack"),
    ] {
        if given {
            let engine = engine.unwrap_or_default();
            return wrong(format!("{option}: cannot be combined with --engine {engine}"));
        }
    }
    let (model, plan) = (Arc::clone(&session.model), Arc::clone(&session.plan));
    let context = model.config.max_positions;
    let session = GraphSession::new(model, plan, context, cache_type);
    Ok(Some(match (engine, options.backend.as_deref()) {
        (Some("arena"), Some(_)) => {
            return wrong(
                "--backend: cannot be combined with --engine arena; use --engine graph".to_owned(),
            );
        }
        (Some("arena"), None) => session.in_an_arena(),
        (_, Some(name)) => session.on(Scheduler::new(backends(name)?)),
        (_, None) => session,
    }))
}

/// Returns the backends that `--backend` selects with the value `name`, the preferred one first.
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
                let problem =
                    format!("--backend: found the operation {other:?}, expected one of {names}");
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

/// Opens the GPU's backend (week 4, day 5).
fn gpu() -> Result<Box<dyn Backend>> {
    #[cfg(feature = "gpu")]
    return Ok(Box::new(tiny_llm::week4::gpu::backend::GpuBackend::open()?));
    #[cfg(not(feature = "gpu"))]
    anyhow::bail!("--backend gpu: this program was built without GPU support; use cargo llm-gpu")
}

/// Describes for the user that the model runs as a graph, and on which backends.
pub(crate) fn described(session: &GraphSession) -> String {
    let Some(scheduler) = session.scheduler() else { return ", as a graph".to_owned() };
    format!(", as a graph on {}", scheduler.names().collect::<Vec<_>>().join(" and "))
}
