//! `cargo course bench serve`: compares our server with llama.cpp's, with the same file, client and
//! machine.
//!
//! Concurrent clients send a new request as soon as the previous one is answered. There is a load
//! with unrelated prompts and one with prompts that share a prefix. For each load, the servers run
//! in turns, and the order alternates.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::{Args, value_parser};
use serde::Serialize;
use serde_json::json;

use super::{Model, Shape, commit, folders, peers, processor, week2::engine::Engine};
use crate::progress::{self, Line};
use load::{Load, Sizes};
use run::{Measured, measure};
use server::Server;

mod client;
mod load;
mod run;
mod server;
mod table;

/// What to measure, and with which programs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    peers: peers::Options,
    /// GGUF file [default: a file of --shape with random weights]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Shape of the generated file, for example smollm2-360m:q8_0
    #[arg(long, value_name = "MODEL:TYPE", default_value = "smollm2-360m:q8_0")]
    shape: Shape,
    /// Number of threads per server
    #[arg(short = 'j', long, value_name = "N", default_value = "2", value_parser = value_parser!(u16).range(1..))]
    threads: u16,
    /// Numbers of concurrent clients to test
    #[arg(long, value_name = "LIST", default_value = "1,4,16,64", value_delimiter = ',', value_parser = value_parser!(u16).range(1..))]
    clients: Vec<u16>,
    /// New tokens per answer
    #[arg(long, value_name = "N", default_value = "32", value_parser = value_parser!(u16).range(2..))]
    new: u16,
    /// Tokens per prompt, in the test without a shared prefix
    #[arg(long, value_name = "N", default_value = "128", value_parser = value_parser!(u16).range(1..))]
    prompt: u16,
    /// Tokens of the shared prefix, in the test with a shared prefix
    #[arg(long, value_name = "N", default_value = "500", value_parser = value_parser!(u16).range(1..))]
    shared: u16,
    /// Runs per configuration (the median is reported)
    #[arg(long, value_name = "N", default_value = "2", value_parser = value_parser!(u16).range(1..))]
    times: u16,
    /// Folder for serve.json [default: target/course-bench]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Number of batch slots of each server.
const PLACES: u16 = 16;

/// The results of one load with one number of clients on one server.
#[derive(Debug, Clone, Serialize)]
struct Row {
    load: &'static str,
    clients: u16,
    server: &'static str,
    measured: Measured,
}

/// Measures and prints the results.
///
/// # Errors
/// If a server cannot be built or started, or does not answer.
pub(super) fn bench(root: &Path, options: &Options) -> Result<()> {
    let [folder, out] = folders(root, options.out.as_deref())?;
    let build = ["--release", "--bin", "tiny-llm-serve", "--features", "serve,reference"];
    progress::build(root, "the reference's server", &build)?;
    let engine = Engine::reference(root, &folder)?;
    let mut line = Line::default();
    let written;
    let model = match &options.model {
        Some(model) => model,
        None => {
            line.show("writing a file with random weights");
            written = Model::write(&engine, &folder, &options.shape)?;
            &written.0
        }
    };
    let sizes = Sizes { prompt: options.prompt, shared: options.shared, new: options.new };
    line.show("starting the servers");
    let mut servers = vec![Server::ours(root, model, options.threads, PLACES, &sizes)?];
    for peer in &options.peers.peers {
        let server = peer.server();
        let command = server.with_context(|| format!("{}: found no llama-server", peer.name))?;
        servers.push(Server::llama(peer.name, command, model, options.threads, PLACES, &sizes)?);
    }
    let mut rows = Vec::new();
    for load in [Load::Unrelated, Load::Shared] {
        for &clients in &options.clients {
            let mut runs: Vec<Vec<Measured>> = vec![Vec::new(); servers.len()];
            for time in 0..options.times {
                let mut order: Vec<_> = servers.iter().zip(&mut runs).collect();
                if time % 2 == 1 {
                    order.reverse();
                }
                for (server, runs) in order {
                    line.show(&format!("{}: {clients} clients, {}", server.name, load.name()));
                    runs.push(measure(
                        server,
                        load,
                        clients,
                        &sizes,
                        u64::from(time) << 8 | u64::from(clients),
                    )?);
                }
            }
            for (server, runs) in servers.iter().zip(runs) {
                let measured = Measured::median(&runs);
                rows.push(Row { load: load.name(), clients, server: server.name, measured });
            }
        }
    }
    drop(servers);
    let checked = peers::check(&engine, &options.peers.peers, model, options.threads)?;
    line.clear();
    let model = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
    println!("{model}, {} threads; {}; {}", options.threads, processor(), commit(root));
    print!("{}\n{checked}", table::table(&rows));
    let file = out.join("serve.json");
    let report =
        json!({ "machine": processor(), "model": model, "threads": options.threads, "rows": rows });
    fs::write(&file, format!("{report:#}\n"))
        .with_context(|| format!("{} cannot be written", file.display()))?;
    println!("\nwritten: {}", file.display());
    Ok(())
}
