//! `tiny-llm-fetch`, which `cargo llm fetch` runs.

use std::{
    io::{ErrorKind, Write},
    process::ExitCode,
};

use anyhow::{Result, ensure};
use clap::Parser;
use tiny_llm_fetch::{Plan, Settings, Show, fetch, size};
use tiny_llm_formats::hub::Name;

/// Downloads a model from the Hugging Face Hub into Hugging Face's cache.
///
/// Prints the model's path. An interrupted download resumes where it stopped.
#[derive(Parser)]
#[command(
    name = "fetch",
    bin_name = "tiny-llm fetch",
    version,
    after_help = "Environment: HF_TOKEN, HF_ENDPOINT, HF_HUB_CACHE, HF_HOME, HF_HUB_OFFLINE=1, \
                  HTTPS_PROXY,\n\
                  HF_HUB_ETAG_TIMEOUT and HF_HUB_DOWNLOAD_TIMEOUT (seconds, default 10)."
)]
struct Options {
    /// Model: OWNER/NAME, plus :FILE.gguf or :TYPE if the repository has several GGUF files
    #[arg(value_name = "OWNER/NAME[:FILE]")]
    model: Name,
    /// Branch, tag or commit [default: main]
    #[arg(long)]
    revision: Option<String>,
    /// Only list the files and their sizes
    #[arg(long)]
    dry_run: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let name = match named(&options) {
        Ok(name) => name,
        Err(error) => {
            eprintln!("error: --revision: {error:#}; see --help");
            return ExitCode::from(2);
        }
    };
    match run(&name, options.dry_run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let text = format!("{error:#}");
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            eprintln!("error: {}", lines.join(" "));
            ExitCode::FAILURE
        }
    }
}

/// Returns the model's name, with the revision of `--revision` if it is given.
fn named(options: &Options) -> Result<Name> {
    let name = options.model.clone();
    let Some(revision) = &options.revision else { return Ok(name) };
    ensure!(
        !name.to_string().contains('@'),
        "found --revision and a revision in {name}, expected only one of them"
    );
    name.at(revision)
}

fn run(name: &Name, dry_run: bool) -> Result<()> {
    let settings = Settings::from_environment()?;
    let show = Show::for_standard_error();
    if !dry_run {
        let path = fetch(name, &settings, &show)?;
        return print(&format!("{}\n", path.display()));
    }
    ensure!(!settings.offline, "HF_HUB_OFFLINE is set, but --dry-run needs the network");
    let plan = Plan::new(name, &settings, &show)?;
    let (mut total, mut missing, mut text) = (0, 0, String::new());
    for file in plan.files() {
        let state = match file.present {
            0 => String::new(),
            present if present == file.size => "  in the cache".to_owned(),
            present => format!("  {} in the cache", size(present)),
        };
        text += &format!("{:>10}  {}{state}\n", size(file.size), file.file);
        total += file.size;
        missing += file.size - file.present;
    }
    text += &format!("{:>10}  in all, {} to download\n", size(total), size(missing));
    print(&text)
}

/// Prints to standard output, which may be closed.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}
