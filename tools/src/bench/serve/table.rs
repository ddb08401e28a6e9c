//! Formats the rows as text.

use std::fmt::Write as _;

use super::Row;

/// Formats a line for each row. The lines of peers have the ratio of our result to theirs.
pub(super) fn table(rows: &[Row]) -> String {
    let mut out = format!(
        "\n{:<10} {:>7}  {:<13} {:>8} {:>7}  {:>16} {:>15}  {:>7} {:>7}\n",
        "prompts", "clients", "", "tokens/s", "", "first token, ms", "gap, ms", "client", "others"
    );
    for row in rows {
        let found = &row.measured;
        let both = |[median, late]: [f64; 2]| format!("{} / {}", short(median), short(late));
        let same = |other: &&Row| (other.load, other.clients) == (row.load, row.clients);
        let ours = rows.iter().find(|other| same(other) && other.server == "ours");
        let ratio = match ours {
            Some(ours) if row.server != "ours" => {
                let ratio = ours.measured.tokens_per_second / found.tokens_per_second;
                format!("×{ratio:.2}")
            }
            _ => String::new(),
        };
        let share = |share: f64| format!("{:.0} %", 100.0 * share);
        let _ = writeln!(
            out,
            "{:<10} {:>7}  {:<13} {:>8.1} {ratio:>7}  {:>16} {:>15}  {:>7} {:>7}",
            row.load,
            row.clients,
            row.server,
            found.tokens_per_second,
            both(found.first_ms),
            both(found.gap_ms),
            share(found.client_share),
            share(found.others_share),
        );
    }
    out += "Pairs of times are median / 99th percentile. × is our tokens/s divided by theirs.\n";
    out += "`client` is the measuring program's share of processor time, `others` is that of \
            other programs.\n";
    out
}

fn short(ms: f64) -> String {
    if ms < 100.0 { format!("{ms:.1}") } else { format!("{ms:.0}") }
}
