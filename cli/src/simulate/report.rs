//! Results of several policies as a table, JSON or a drawing.

use std::{fmt::Write, path::Path};

use anyhow::{Result, anyhow};
use serde_json::json;

use super::{
    cluster::{Outcome, Routing},
    histogram::Histogram,
};
use crate::SimulatedOptions;

/// Parameters and results of one run, simulated or real.
pub(super) struct Case {
    pub options: SimulatedOptions,
    pub replicas: usize,
    pub routing: Routing,
    pub rate: f64,
    pub outcome: Outcome,
}

impl Case {
    fn throughput(&self) -> f64 {
        self.outcome.new_tokens as f64 / self.outcome.seconds
    }

    fn rows_a_step(&self) -> f64 {
        self.outcome.rows as f64 / self.outcome.steps as f64
    }

    /// Returns the fraction of prompt tokens that were already in a cache.
    fn hits(&self) -> f64 {
        self.outcome.attached as f64 / self.outcome.prompt_tokens as f64
    }

    /// Returns the label of this run's line in the drawing. Runs with the same policy share a line,
    /// even if their rates differ.
    fn policy(&self) -> String {
        let Self { options, replicas, routing, .. } = self;
        format!(
            "batch {}, budget {}, {} pages, {replicas} × {}",
            options.max_batch,
            options.budget,
            options.pages,
            routing.name()
        )
    }
}

/// Returns `real` or `simulated`.
fn how(case: &Case) -> &'static str {
    if case.outcome.real.is_some() { "real" } else { "simulated" }
}

/// Describes how much the results of the run `simulated` differ from those of the run `real`.
fn difference(real: &Case, simulated: &Case) -> String {
    let (a, b) = (&real.outcome, &simulated.outcome);
    let percent = |a: f64, b: f64| format!("{:+.0} %", 100.0 * (b / a - 1.0));
    let times = |a: &Histogram, b: &Histogram| {
        [0.5, 0.99].map(|share| percent(a.quantile(share), b.quantile(share))).join(" / ")
    };
    format!(
        "simulated compared with real: tokens/s {}, first token {}, gap {}, longest gap {}\n",
        percent(real.throughput(), simulated.throughput()),
        times(&a.first_token, &b.first_token),
        times(&a.gap, &b.gap),
        times(&a.longest_gap, &b.longest_gap),
    )
}

pub(super) fn as_table(cases: &[Case]) -> String {
    let with_real = cases.iter().any(|case| case.outcome.real.is_some());
    let first = |text: &str| if with_real { format!("{text:<10}") } else { String::new() };
    let mut text = first("");
    let _ = writeln!(
        text,
        "{:>6} {:>7} {:>7} {:>8} {:<12} {:>8} {:>9} {:>16} {:>8} {:>16} {:>8} {:>6} {:>9} {:>10}",
        "batch",
        "budget",
        "pages",
        "replicas",
        "routing",
        "rate /s",
        "tokens/s",
        "first token, s",
        "gap, ms",
        "longest gap, ms",
        "rows",
        "hits",
        "most used",
        "preempted"
    );
    for (i, case) in cases.iter().enumerate() {
        let Case { options, replicas, routing, rate, outcome } = case;
        let [soon, late] = [0.5, 0.99].map(|share| outcome.first_token.quantile(share));
        let gap = 1e3 * outcome.gap.quantile(0.5);
        let [longest, late_longest] =
            [0.5, 0.99].map(|share| 1e3 * outcome.longest_gap.quantile(share));
        let line = format!(
            "{:>6} {:>7} {:>7} {replicas:>8} {:<12} {rate:>8} {:>9.1} {:>16} {:>8} {:>16} {:>8.1} {:>6} {:>9} {:>10}",
            options.max_batch,
            options.budget,
            options.pages,
            routing.name(),
            case.throughput(),
            format!("{soon:.3} / {late:.3}"),
            format!("{gap:.1}"),
            format!("{longest:.1} / {late_longest:.1}"),
            case.rows_a_step(),
            format!("{:.0} %", 100.0 * case.hits()),
            outcome.most_pages,
            outcome.preempted,
        );
        let _ = writeln!(text, "{}{line}", first(how(case)));
        match cases.get(i.wrapping_sub(1)) {
            Some(before) if before.outcome.real.is_some() && outcome.real.is_none() => {
                text += &difference(before, case);
            }
            _ => {}
        }
    }
    text.push_str(
        "Pairs of times are median / 99th percentile. A gap is the time between two tokens of a \
         request.\n\
         The longest gap is each request's maximum. Rows are the average per step. Hits are\n\
         the share of prompt tokens that were already in a cache.\n",
    );
    text
}

pub(super) fn as_json(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        let Case { options, replicas, routing, rate, outcome } = case;
        let quantiles = |histogram: &Histogram| json!({"median": histogram.quantile(0.5), "p99": histogram.quantile(0.99)});
        let real = outcome.real;
        let drafts = real.and_then(|real| real.drafts);
        let line = json!({
            "engine": how(case),
            "cache_bytes_used": real.map(|real| real.cache.used),
            "cache_bytes_held": real.map(|real| real.cache.held),
            "cache_bytes": real.map(|real| real.cache.all),
            "cache_bytes_beyond_for_each": real.map(|real| real.beyond),
            "drafts_accepted": drafts.map(|drafts| drafts.0),
            "drafts": drafts.map(|drafts| drafts.1),
            "max_batch": options.max_batch,
            "budget": options.budget,
            "pages": options.pages,
            "replicas": replicas,
            "routing": routing.name(),
            "rate": rate,
            "seconds": outcome.seconds,
            "prompt_tokens": outcome.prompt_tokens,
            "new_tokens": outcome.new_tokens,
            "tokens_per_second": case.throughput(),
            "first_token_s": quantiles(&outcome.first_token),
            "gap_s": quantiles(&outcome.gap),
            "longest_gap_s": quantiles(&outcome.longest_gap),
            "steps": outcome.steps,
            "rows_a_step": case.rows_a_step(),
            "most_pages": outcome.most_pages,
            "preempted": outcome.preempted,
            "attached": outcome.attached,
        });
        let _ = writeln!(text, "{line}");
    }
    text
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const MARGIN: f64 = 56.0;
/// Colours that are distinguishable in both themes and with colour blindness.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Draws throughput against the 99th percentile of time to first token, one line per policy.
pub(super) fn draw(cases: &[Case], file: &Path) -> Result<()> {
    let late = |case: &Case| case.outcome.first_token.quantile(0.99);
    let largest = |f: &dyn Fn(&Case) -> f64| cases.iter().map(f).fold(1e-9, f64::max);
    let (most, latest) = (largest(&Case::throughput), largest(&late));
    let earliest = cases.iter().map(late).fold(latest, f64::min) / 2.0;
    let decades = (latest / earliest).log10().max(0.1);
    let x = |case: &Case| MARGIN + (WIDTH - 2.0 * MARGIN) * case.throughput() / most;
    let y = |seconds: f64| {
        HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * (seconds / earliest).log10() / decades
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\">\n\
         <title>Throughput against latency</title>\n"
    );
    let (left, bottom, right) = (MARGIN, HEIGHT - MARGIN, WIDTH - MARGIN);
    let _ = writeln!(
        svg,
        "<path d=\"M{left} {MARGIN}V{bottom}H{right}\" fill=\"none\" stroke=\"currentColor\"/>\n\
         <text x=\"{right}\" y=\"{}\" text-anchor=\"end\">new tokens/s (up to {most:.0})</text>\n\
         <text x=\"{left}\" y=\"{}\">seconds to the first token, 99th percentile</text>",
        bottom + 20.0,
        MARGIN - 32.0
    );
    let mut decade = 10f64.powf(earliest.log10().ceil());
    while decade <= latest {
        let at = y(decade);
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"currentColor\" stroke-opacity=\"0.2\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{decade}</text>",
            left - 6.0,
            at + 4.0
        );
        decade *= 10.0;
    }
    let mut policies: Vec<String> = Vec::new();
    for case in cases {
        if !policies.contains(&case.policy()) {
            policies.push(case.policy());
        }
    }
    for (i, policy) in policies.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let points: Vec<_> = cases.iter().filter(|case| case.policy() == *policy).collect();
        let path: Vec<_> =
            points.iter().map(|case| format!("{:.1},{:.1}", x(case), y(late(case)))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{policy}</text>",
            path.join(" "),
            left + 12.0,
            MARGIN - 12.0 + 16.0 * i as f64
        );
        for point in path {
            let (x, y) = point.split_once(',').expect("two numbers");
            let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{colour}\"/>");
        }
    }
    svg.push_str("</svg>\n");
    std::fs::write(file, svg).map_err(|e| anyhow!("{}: cannot be written: {e}", file.display()))
}
