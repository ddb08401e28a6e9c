//! The results as text.

use std::fmt::Write;

use super::{Outcome, Report, Row, served::Served, shapes::Figure};

/// The whole table.
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
    out += "Times are median / 99th percentile of all requests; rows are those of a step, used and held MB of keys and values\n";
    out += "when the requests had the most positions (shared ones counted for each), drafts the share that was accepted.\n";
    for (name, figures) in &report.figures {
        let _ = writeln!(
            out,
            "\n{:<50} {:>9} {:>12} {:>9} {:>12}",
            name, "ours", "llama.cpp", "with AMX", "llama.cpp"
        );
        for figure in figures {
            out += &figure_line(figure);
        }
    }
    out += &reasons(report);
    out
}

fn line(row: &Row, with_yours: bool) -> String {
    let served = row.reference.served();
    let rate = |served: Option<&Served>| {
        served.map_or("–".to_owned(), |served| format!("{:.0}", served.tokens_per_second))
    };
    let mut rates = rate(served);
    if with_yours {
        let yours = row.yours.as_ref().and_then(|yours| yours.served());
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

/// Why there are gaps; each reason once, with the rows that it left empty.
fn reasons(report: &Report) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &report.ways {
        for (whose, outcome) in [("reference", Some(&row.reference)), ("yours", row.yours.as_ref())]
        {
            let Some(Outcome::Failed { error }) = outcome else { continue };
            let reason = format!("{whose}: {error}");
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, rows)) => rows.push(row.name),
                None => reasons.push((reason, vec![row.name])),
            }
        }
    }
    let which = |rows: Vec<&str>| {
        if rows.len() == report.ways.len() { "every row".to_owned() } else { rows.join("; ") }
    };
    reasons.into_iter().map(|(reason, rows)| format!("\n{reason}\n  ({})\n", which(rows))).collect()
}

fn figure_line(figure: &Figure) -> String {
    let number = |x: f64| if x >= 100.0 { format!("{x:.0}") } else { format!("{x:.2}") };
    let of = |theirs: Option<f64>, ours: f64| {
        theirs.map_or(String::new(), |theirs| format!("{} ×{:.2}", number(theirs), ours / theirs))
    };
    let with_amx = figure.ours_with_amx;
    format!(
        "{:<50} {:>9} {:>12} {:>9} {:>12}  {}\n",
        figure.what,
        number(figure.ours),
        of(figure.theirs, figure.ours),
        with_amx.map(number).unwrap_or_default(),
        of(figure.with_amx, with_amx.unwrap_or(figure.ours)),
        figure.note
    )
}
