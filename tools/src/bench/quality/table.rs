//! Formats the results as Markdown. Columns are padded, so that the table is also readable in a
//! terminal.

use std::fmt::Write;

use super::{Change, Report, Row};

const HEADS: [&str; 8] = [
    "",
    "matrices",
    "MB",
    "bits per weight",
    "error of the weights",
    "perplexity",
    "against F32",
    "exact answers",
];

/// Formats the whole page.
pub(super) fn markdown(report: &Report) -> String {
    let cells: Vec<[String; 8]> =
        report.rows.iter().map(|row| cells(row, report.questions)).collect();
    let heads = HEADS.map(str::to_owned);
    let width = |i: usize| {
        cells.iter().chain([&heads]).map(|row| row[i].chars().count()).max().unwrap_or(0).max(2)
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let line = |row: &[String; 8]| {
        let shown = |(i, (cell, width)): (usize, (&String, usize))| {
            if i < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        format!(
            "| {} |\n",
            row.iter().zip(widths).enumerate().map(shown).collect::<Vec<_>>().join(" | ")
        )
    };
    let rule = |(i, width): (usize, usize)| {
        if i < 2 { "-".repeat(width) } else { format!("{}:", "-".repeat(width - 1)) }
    };
    let mut text = line(&heads);
    let _ = writeln!(
        text,
        "| {} |",
        widths.into_iter().enumerate().map(rule).collect::<Vec<_>>().join(" | ")
    );
    text.extend(cells.iter().map(line));
    let Report { model, machine, questions, stories, tokens, .. } = report;
    let _ = writeln!(
        text,
        "\n\
         {model}; {questions} questions, {stories} stories of {tokens} predicted tokens; {machine}"
    );
    for (name, reason) in &report.left_out {
        let _ = writeln!(text, "\nleft out: {name}: {reason}");
    }
    text
}

fn cells(row: &Row, questions: usize) -> [String; 8] {
    [
        row.name.clone(),
        row.types.clone(),
        format!("{:.2}", row.file_bytes as f64 / 1e6),
        format!("{:.2}", row.bits_per_weight),
        format!("{:.2} %", 100.0 * row.relative_error),
        format!("{:.4}", row.perplexity),
        change(row.change),
        format!("{} of {questions}", row.right),
    ]
}

/// Formats a change in percent, with its standard error.
fn change(Change { part, standard_error }: Change) -> String {
    let error = standard_error.map_or(String::new(), |error| format!(" ± {:.2}", 100.0 * error));
    // Adding 0 turns a rounded −0 into 0.
    let percent = (1e4 * part).round() / 100.0 + 0.0;
    format!("{percent:+.2}{error} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_has_a_line_for_each_row() {
        let row = Row {
            name: "Q4_0".to_owned(),
            arguments: vec!["--type=q4_0".to_owned()],
            types: "2 Q4_0".to_owned(),
            file_bytes: 2_345_678,
            bits_per_weight: 4.5,
            relative_error: 0.0876,
            perplexity: 1.9,
            change: Change { part: 0.01234, standard_error: Some(0.0021) },
            right: 7,
        };
        let report = Report {
            model: "m".to_owned(),
            machine: "here".to_owned(),
            questions: 8,
            stories: 2,
            tokens: 99,
            rows: vec![row],
            left_out: vec![("all Q2_K".to_owned(), "rows of 8".to_owned())],
        };
        let text = markdown(&report);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[2],
            "| Q4_0 | 2 Q4_0   | 2.35 |            4.50 |               8.76 % |     1.9000 | +1.23 \
             ± 0.21 % |        7 of 8 |"
        );
        assert!(
            lines[..3].iter().all(|line| line.chars().count() == lines[0].chars().count()
                && line.matches('|').count() == 9),
            "{text}"
        );
        assert_eq!(
            lines[4..],
            [
                "m; 8 questions, 2 stories of 99 predicted tokens; here",
                "",
                "left out: all Q2_K: rows of 8"
            ]
        );
        assert_eq!(change(Change { part: -1e-6, standard_error: None }), "+0.00 %");
    }
}
