//! `experts`: which experts each token of a text uses, and how many bytes are read per token.

use std::{fmt::Write as _, process::ExitCode};

use anyhow::Result;

use super::{
    Solution,
    options::{ModelOption, embedded},
    output::Output,
    session::tokenizer,
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Text to run the model on
    #[arg(
        short,
        long,
        value_name = "TEXT",
        default_value = "Once upon a time there was a little fox."
    )]
    prompt: String,
    /// Also list every token with its experts and their weights
    #[arg(long)]
    tokens: bool,
}

/// The experts to which the tokens of a text were routed.
#[derive(Debug, Clone, Default)]
pub struct ExpertsSeen {
    /// Number of experts per layer.
    pub experts: usize,
    /// Number of experts per token.
    pub per_token: usize,
    /// `[tokens][layers][per_token]`: pairs of an expert's index and its weight, largest weight
    /// first.
    pub tokens: Vec<Vec<Vec<(usize, f32)>>>,
    /// Number of bytes of expert weights that all tokens read in total.
    pub expert_bytes: u64,
    /// Number of bytes of the other matrices that all tokens read in total.
    pub shared_bytes: u64,
    /// Size of all matrices of the model in bytes.
    pub all_bytes: u64,
    /// Number of cache pages in use after the last token.
    pub pages: usize,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let model = args.model.clone().or(embedded("tiny-mixture"));
    let (path, options) = (model.path(), model.options());
    let tokenizer = tokenizer(solution, &path)?;
    let ids = tokenizer.encode(&args.prompt)?;
    let seen = (solution.experts)(&path, &options, &ids)?;
    let texts: Vec<String> = ids
        .iter()
        .map(|&id| String::from_utf8_lossy(&tokenizer.token_bytes(id)).replace('\n', "↵"))
        .collect();
    let mut out = String::new();
    if args.tokens {
        list(&seen, &texts, &mut out);
    }
    loads(&seen, &texts, &mut out);
    let n = seen.tokens.len().max(1) as u64;
    let _ = write!(
        out,
        "a token reads {} bytes of expert weights and {} bytes of other weights, out of {} bytes \
         in all; cache pages used: {}",
        seen.expert_bytes / n,
        seen.shared_bytes / n,
        seen.all_bytes,
        seen.pages
    );
    Output::new().print(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// Appends a line for each token to `out`: its text, then its experts and their weights.
fn list(seen: &ExpertsSeen, texts: &[String], out: &mut String) {
    for (text, layers) in texts.iter().zip(&seen.tokens) {
        let _ = write!(out, "{:<12}", format!("{text:?}"));
        for chosen in layers {
            let each = chosen.iter().map(|(e, weight)| format!("{e:>3} {:>3.0} %", 100.0 * weight));
            let _ = write!(out, "  {}", each.collect::<Vec<_>>().join(" "));
        }
        out.push('\n');
    }
}

/// Appends a line for each expert of each layer to `out`: the number of tokens routed to the
/// expert, and the most frequent of the tokens that had it as their first choice.
fn loads(seen: &ExpertsSeen, texts: &[String], out: &mut String) {
    const BAR: usize = 24;
    const SHOWN: usize = 6;
    let layers = seen.tokens.first().map_or(0, Vec::len);
    for layer in 0..layers {
        let mut loads = vec![0; seen.experts];
        let mut first: Vec<Vec<(&str, usize)>> = vec![Vec::new(); seen.experts];
        for (text, chosen) in texts.iter().zip(&seen.tokens) {
            for (j, &(expert, _)) in chosen[layer].iter().enumerate() {
                loads[expert] += 1;
                if j > 0 {
                    continue;
                }
                match first[expert].iter_mut().find(|(other, _)| other == text) {
                    Some((_, n)) => *n += 1,
                    None => first[expert].push((text, 1)),
                }
            }
        }
        let most = loads.iter().copied().max().unwrap_or(1).max(1);
        let _ = writeln!(
            out,
            "layer {layer}: for each expert, the number of tokens routed to it, then the tokens \
             whose first choice it was, with counts"
        );
        for (expert, (load, first)) in loads.iter().zip(&mut first).enumerate() {
            first.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
            let shown = first.iter().take(SHOWN).map(|(text, n)| format!("{text:?} {n}"));
            let bar = "█".repeat((load * BAR).div_ceil(most));
            let shown = shown.collect::<Vec<_>>().join("  ");
            let line = format!("{expert:>4} {load:>5}  {bar:<BAR$}  {shown}");
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}
