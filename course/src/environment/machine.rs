//! Checks the machine itself.

use std::{
    io::{IsTerminal, stdout},
    path::Path,
    process::Command,
    thread::available_parallelism,
};

use super::part::{Part, first_line, size};
use crate::{ink, process::run_quietly};

/// Checks the free space on the repository's disk, with `df` if available.
pub(super) fn disk(root: &Path) -> Part {
    Part::required("disk space", room(root))
}

fn room(root: &Path) -> Result<String, String> {
    let needed = 2 << 20; // KiB
    if cfg!(windows) {
        return Ok("not checked on this system; keep 2 GiB free".to_owned());
    }
    match free_kib(root) {
        Some(free) if free >= needed => {
            Ok(format!("{} GiB free (needs 2 GiB, or 8 GiB with PyTorch)", free >> 20))
        }
        Some(free) => {
            Err(format!("{} MiB free, but building needs 2 GiB (8 GiB with PyTorch)", free >> 10))
        }
        None => Ok("unknown (`df` gave no answer); keep 2 GiB free".to_owned()),
    }
}

/// Returns the free space on a folder's disk in KiB, or `None` if `df` doesn't report it.
#[must_use]
pub fn free_kib(root: &Path) -> Option<u64> {
    let df = run_quietly(Command::new("df").arg("-Pk").arg(root)).ok()?;
    let row = df.text.lines().nth(1)?;
    row.split_whitespace().nth(3)?.parse().ok()
}

/// Checks the machine's total memory.
pub(super) fn memory() -> Part {
    // Enough for two concurrent compilers, and for the benchmark's 360M model in f32 (1.5 GB).
    let needed = 2 << 30;
    let found = match total_memory() {
        Some(bytes) if bytes >= needed => Ok(format!("{} (2 GiB is enough)", size(bytes))),
        Some(bytes) => Err(format!("only {}: build with CARGO_BUILD_JOBS=1", size(bytes))),
        None => Ok("unknown on this system; 2 GiB is enough".to_owned()),
    };
    Part::optional("memory", found, "`cargo course bench` needs 2 GiB")
}

/// Returns the machine's memory in bytes, or `None` if it is unknown.
fn total_memory() -> Option<u64> {
    match std::env::consts::OS {
        "linux" => {
            let text = std::fs::read_to_string("/proc/meminfo").ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
            Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
        }
        "macos" => {
            first_line(Command::new("sysctl").args(["-n", "hw.memsize"])).ok()?.trim().parse().ok()
        }
        _ => None,
    }
}

/// Reports the number of cores, and the vector instructions that the course uses from week 2 on.
pub(super) fn processor() -> Part {
    let cores = available_parallelism().map_or("unknown number of cores".to_owned(), |n| {
        if n.get() == 1 { "1 core".to_owned() } else { format!("{n} cores") }
    });
    let features = vector_features();
    let features = if features.is_empty() {
        "no vector instructions that the course uses".to_owned()
    } else {
        features.join(", ")
    };
    Part::optional(
        "processor",
        Ok(format!("{}, {cores}; {features} (used from week 2 on)", std::env::consts::ARCH)),
        "",
    )
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn vector_features() -> Vec<&'static str> {
    let found = [
        ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
        ("FMA", std::arch::is_x86_feature_detected!("fma")),
        ("AVX-512F", std::arch::is_x86_feature_detected!("avx512f")),
        ("AVX-512 VNNI", std::arch::is_x86_feature_detected!("avx512vnni")),
        ("AMX", has_matrix_unit()),
    ];
    found.into_iter().filter_map(|(name, there)| there.then_some(name)).collect()
}

/// Returns whether Linux reports a matrix unit. Other systems don't let programs use the unit.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn has_matrix_unit() -> bool {
    std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| {
        text.lines()
            .filter(|line| line.starts_with("flags"))
            .any(|line| line.split_whitespace().any(|flag| flag == "amx_int8"))
    })
}

#[cfg(target_arch = "aarch64")]
fn vector_features() -> Vec<&'static str> {
    let found = [
        ("NEON", std::arch::is_aarch64_feature_detected!("neon")),
        ("dot product", std::arch::is_aarch64_feature_detected!("dotprod")),
        ("I8MM", std::arch::is_aarch64_feature_detected!("i8mm")),
    ];
    found.into_iter().filter_map(|(name, there)| there.then_some(name)).collect()
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
fn vector_features() -> Vec<&'static str> {
    Vec::new()
}

/// Reports whether this program's output is coloured or plain text.
pub(super) fn terminal() -> Part {
    let found = if !stdout().is_terminal() {
        "plain text: the output is not a terminal"
    } else if ink::plain_wanted() {
        "plain text: NO_COLOR, CI or TERM=dumb is set"
    } else if ink::Ink::of_stdout().has_colour() {
        "colour (NO_COLOR=1 turns it off)"
    } else {
        "plain text: this terminal has no colour"
    };
    Part::optional("terminal", Ok(found.to_owned()), "")
}
