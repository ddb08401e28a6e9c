//! The results as text.

use std::fmt::Write;

use super::{super::reasons, Report, Row, engine::Measured};

/// Formats the whole table.
pub(super) fn table(report: &Report) -> String {
    let with_yours = report.cumulative.iter().any(|row| row.yours.is_some());
    let mut out = format!(
        "\n{}'s shape, {}, random weights; a prompt of {} tokens and {} new ones; {}\n\
         finished: {}\n",
        report.like,
        report.file_type.to_uppercase(),
        report.prompt_tokens,
        report.new_tokens,
        report.machine,
        report.engine().unwrap_or("not measured")
    );
    if let Some(bandwidth) = report.bandwidth() {
        let _ = writeln!(
            out,
            "memory bandwidth, measured in the same run: {:.1} GB/s",
            bandwidth / 1e9
        );
    }
    if let Some(line) = report.finished().and_then(matrix_units) {
        out += &line;
    }
    let _ = writeln!(out, "\n{}", heading("One after the other", with_yours));
    for row in &report.cumulative {
        out += &line(row, with_yours);
    }
    for (name, peer) in &report.peers {
        let _ = writeln!(out, "{}", cells(name, Ok(peer), None, false));
    }
    out += &report.held_back;
    let _ = writeln!(out, "\n{}", heading("All of it, but", with_yours));
    for row in &report.without {
        out += &line(row, with_yours);
    }
    let rows = report.cumulative.iter().chain(&report.without);
    out += &reasons(
        &rows.map(|row| (row.name, &row.reference, row.yours.as_ref())).collect::<Vec<_>>(),
    );
    out
}

/// Describes the matrix units' rate, and the fraction of it that a prompt reaches.
fn matrix_units(measured: &Measured) -> Option<String> {
    let rate = measured.matrix_unit_operations_per_second?;
    let share = measured.share_of_matrix_units()?;
    Some(format!(
        "matrix units, measured in the same run: {:.1} TOP/s, of which a prompt of {} tokens \
         uses {:.1} %\n",
        rate / 1e12,
        measured.prompt_tokens,
        100.0 * share
    ))
}

fn heading(title: &str, with_yours: bool) -> String {
    let (prefill, decode) =
        if with_yours { ("prefill / yours", "decode / yours") } else { ("prefill", "decode") };
    format!(
        "{title:<30} {prefill:>16} {decode:>16} {:>9} {:>6} {:>8} {:>8}",
        "MB/token", "share", "own MiB", "mapped"
    )
}

fn line(row: &Row, with_yours: bool) -> String {
    let reference = row.reference.done();
    let yours = row.yours.as_ref().map(|outcome| outcome.done());
    format!("{}\n", cells(row.name, reference.ok_or(()), yours, with_yours))
}

fn cells(
    name: &str,
    reference: Result<&Measured, ()>,
    yours: Option<Option<&Measured>>,
    with_yours: bool,
) -> String {
    let rates = |field: fn(&Measured) -> Option<f64>| {
        let ours = rate(reference.ok().and_then(field));
        if with_yours {
            format!("{ours} / {:>6}", rate(yours.flatten().and_then(field)))
        } else {
            ours
        }
    };
    let (prefill, decode) =
        (rates(|m| Some(m.prefill_tokens_per_second)), rates(|m| m.decode_tokens_per_second));
    let of = |field: fn(&Measured) -> Option<f64>, show: fn(f64) -> String| {
        reference.ok().and_then(field).map_or("–".to_owned(), show)
    };
    let bytes = of(|m| m.weight_bytes_per_token, |bytes| format!("{:.1}", bytes / 1e6));
    let share = of(Measured::share_of_bandwidth, |share| format!("{:.0} %", 100.0 * share));
    let mib = |bytes: f64| format!("{:.0}", bytes / f64::from(1 << 20));
    let (own, mapped) =
        (of(|m| m.memory.map(|m| m.own), mib), of(|m| m.memory.map(|m| m.mapped), mib));
    format!("{name:<30} {prefill:>16} {decode:>16} {bytes:>9} {share:>6} {own:>8} {mapped:>8}")
}

/// Formats tokens per second, with fewer decimals for higher rates.
pub(super) fn rate(rate: Option<f64>) -> String {
    match rate {
        None => "–".to_owned(),
        Some(rate) if rate >= 99.95 => format!("{rate:.0}"),
        Some(rate) if rate >= 9.995 => format!("{rate:.1}"),
        Some(rate) => format!("{rate:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(unit: &str) -> Measured {
        let json = format!(
            r#"{{"prompt_tokens": 512, "new_tokens": 1, "prefill_tokens_per_second": 500.0,
                 "decode_tokens_per_second": null, "operations_per_token": 4e8{unit}}}"#
        );
        serde_json::from_str(&json).expect("a measurement")
    }

    #[test]
    fn matrix_units_is_none_without_a_rate() {
        let unit = r#", "matrix_unit_operations_per_second": 8e12"#;
        assert_eq!(
            matrix_units(&measured(unit)).as_deref(),
            Some(
                "matrix units, measured in the same run: 8.0 TOP/s, of which a prompt of 512 \
                 tokens uses 2.5 %\n"
            )
        );
        for none in ["", r#", "matrix_unit_operations_per_second": null"#] {
            assert_eq!(matrix_units(&measured(none)), None);
        }
    }
}
