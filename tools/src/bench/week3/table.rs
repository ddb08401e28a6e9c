//! The results as text.

use std::fmt::Write;

use super::{super::reasons, Report, Row, served::Served, shapes::Figure};

/// Formats the whole table.
pub(super) fn table(report: &Report) -> String {
    let mut out = format!("\n{}; {}\n", report.model, report.machine);
    let yours = report.ways.iter().any(|row| row.yours.is_some());
    let rate = if yours { "tokens/s / yours" } else { "tokens/s" };
    let _ = writeln!(
        out,
        "\n{:<20} {rate:>16} {:>17} {:>17} {:>6} {:>7} {:>7} {:>9}",
        "", "first token, ms", "longest gap, ms", "rows", "used", "held", "drafts"
    );
    for row in &report.ways {
        out += &line(row, yours);
    }
    out += "Times are median / 99th percentile of all requests. `rows` is the average per step. \
            `drafts` is accepted / all.\n";
    out += "`used` is the maximum size of the keys and values of all requests in one step, in MB \
            (a shared position counts once per request).\n\
            `held` is the memory reserved at that step, in MB.\n";
    for (name, figures) in &report.figures {
        let peers: String = report.peers.iter().map(|peer| format!(" {peer:>14}")).collect();
        let _ = writeln!(out, "\n{name:<50} {:>9}{peers}", "ours");
        for figure in figures {
            out += &figure_line(figure);
        }
    }
    if !report.checks.is_empty() {
        let _ = write!(out, "\n{}", report.checks);
    }
    let rows = report.ways.iter();
    out += &reasons(
        &rows.map(|row| (row.name, &row.reference, row.yours.as_ref())).collect::<Vec<_>>(),
    );
    out
}

fn line(row: &Row, with_yours: bool) -> String {
    let served = row.reference.done();
    let rate = |served: Option<&Served>| {
        served.map_or("–".to_owned(), |served| format!("{:.0}", served.tokens_per_second))
    };
    let mut rates = rate(served);
    if with_yours {
        let yours = row.yours.as_ref().and_then(|yours| yours.done());
        let _ = write!(rates, " / {:>6}", rate(yours));
    }
    let ms = |seconds: Option<f64>| seconds.map_or("–".to_owned(), |s| format!("{:.1}", 1e3 * s));
    let both = |quantiles: super::served::Quantiles| {
        format!("{} / {}", ms(quantiles.median), ms(quantiles.p99))
    };
    let of = |show: &dyn Fn(&Served) -> String| served.map_or("–".to_owned(), show);
    let mb = |bytes: f64| format!("{:.2}", bytes / 1e6);
    let drafts = |s: &Served| match s.drafts.zip(s.drafts_accepted) {
        Some((drafts, accepted)) => format!("{accepted}/{drafts}"),
        None => String::new(),
    };
    format!(
        "{:<20} {rates:>16} {:>17} {:>17} {:>6} {:>7} {:>7} {:>9}\n",
        row.name,
        of(&|s| both(s.first_token_s)),
        of(&|s| both(s.longest_gap_s)),
        of(&|s| format!("{:.1}", s.rows_a_step)),
        of(&|s| mb(s.cache_bytes_used)),
        of(&|s| mb(s.cache_bytes_held)),
        of(&drafts),
    )
}

fn figure_line(figure: &Figure) -> String {
    let number = |x: f64| if x >= 100.0 { format!("{x:.0}") } else { format!("{x:.2}") };
    let mut line = format!("{:<50} {:>9}", figure.what, number(figure.ours));
    for theirs in &figure.theirs {
        let _ = write!(line, " {:>8} ×{:.2}", number(*theirs), figure.ours / theirs);
    }
    format!("{line}  {}\n", figure.note)
}
