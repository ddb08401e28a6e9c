//! Chooses kernels, attention, threads and cache type. The choice depends on the options, and on
//! which tasks are written.

use std::{collections::BTreeSet, str::FromStr};

use anyhow::{Result, anyhow};
use tiny_llm::week2::{
    cache::CacheType,
    kernels::{Rung, VARIABLE},
    parallel::Team,
    plan::{AttentionKind, Plan},
};
use tiny_llm_cli::{LoadOptions, WrongOption};
use tiny_llm_formats::gguf::TensorType;

use super::written::{self, Written};

/// Returns the plan that `options` select. Where they select nothing, the plan uses what the
/// learner has written. The reference uses the fastest kernels, streaming attention and every
/// physical core.
pub(super) fn plan(options: &LoadOptions, types: &[TensorType]) -> Result<Plan> {
    let rung = match &options.kernels {
        Some(name) => Some(option("--kernels", name)?),
        None if std::env::var_os(VARIABLE).is_some() => {
            Some(Rung::from_environment().map_err(|e| anyhow!(e))?)
        }
        None => None,
    };
    let attention = options.attention.as_deref();
    let attention = attention.map(|name| option("--attention", name)).transpose()?;
    let mut plan = Plan {
        kernels: rung.unwrap_or_else(Rung::best).into(),
        attention: attention.unwrap_or_default(),
        team: Team::new(1),
    };
    let mut threads = options.threads.unwrap_or_else(physical_cores);
    if !cfg!(feature = "reference") {
        let written = Written::probe();
        let mut open = BTreeSet::new();
        if rung.is_none() {
            plan.kernels = written.kernels;
            open.extend(written.open_kernels(types));
        }
        if let Some(task) = written.attention.as_deref().filter(|_| attention.is_none()) {
            plan.attention = AttentionKind::TwoPass;
            open.insert(task);
        }
        if let Some(task) = written.threads.as_deref().filter(|_| options.threads.is_none()) {
            threads = 1;
            open.insert(task);
        }
        if !open.is_empty() {
            let open = Vec::from_iter(open).join(", ");
            eprintln!("not written yet: {open}; running without these tasks");
        }
    }
    plan.team = Team::new(threads);
    Ok(plan)
}

/// Returns the cache type that the options select.
pub(super) fn cache_type(options: &LoadOptions) -> Result<CacheType> {
    named("--cache-type", options.cache_type.as_deref(), CacheType::default)
}

/// Describes a plan in a few words.
pub(super) fn described(plan: &Plan, types: &[TensorType]) -> String {
    let Plan { kernels, attention, team } = plan;
    let (threads, s) = (team.threads(), if team.threads() == 1 { "" } else { "s" });
    format!("{}, {threads} thread{s}, {attention} attention", written::described(kernels, types))
}

pub(super) fn option<T: FromStr<Err = String>>(option: &str, value: &str) -> Result<T> {
    value.parse().map_err(|error| WrongOption(format!("{option}: {error}")).into())
}

/// Parses the value of the option `name`. Without a value, returns the default.
fn named<T: FromStr<Err = String>>(
    name: &str,
    value: Option<&str>,
    default: impl Fn() -> T,
) -> Result<T> {
    value.map_or_else(|| Ok(default()), |value| option(name, value))
}

/// Returns the number of physical cores. More threads do not help: two threads on one core share
/// its units, and wait for each other at the end of every matrix.
pub(super) fn physical_cores() -> usize {
    let logical = std::thread::available_parallelism().map_or(1, usize::from);
    let siblings = std::fs::read_to_string("/sys/devices/system/cpu/smt/active")
        .is_ok_and(|text| text.trim() == "1");
    if siblings { (logical / 2).max(1) } else { logical }
}
