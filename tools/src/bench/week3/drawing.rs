//! Draws the results as bars: tokens per second, and the longest inter-token latency. Text and
//! lines have the colour of the page.

use std::fmt::Write;

use super::{Report, served::Served};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 150.0;
const STEP: f64 = 36.0;
const BLUE: &str = "#4c8bf5";
const ORANGE: &str = "#e8853a";
const GREEN: &str = "#3fa66b";

/// Returns an SVG file.
pub(super) fn drawing(report: &Report) -> String {
    let rate = |served: &Served| served.tokens_per_second;
    let gap = |served: &Served| served.longest_gap_s.p99.unwrap_or(0.0);
    let all = report.ways.iter().filter_map(|row| row.reference.done());
    let most = |f: &dyn Fn(&Served) -> f64| all.clone().map(f).fold(1e-9, f64::max);
    let (fastest, longest) = (most(&rate), most(&gap));
    let place = |share: f64| (WIDTH - LEFT - 90.0) * share.clamp(0.0, 1.0);
    let mut shapes = String::new();
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        let _ =
            writeln!(shapes, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#);
    };
    text(
        0.0,
        14.0,
        "start",
        "new tokens/s (blue), 99th percentile of the requests' longest gaps \
         (orange), your tokens/s (green)",
    );
    for (i, row) in report.ways.iter().enumerate() {
        let y = 30.0 + STEP * i as f64;
        text(LEFT - 8.0, y + 15.0, "end", row.name);
        let Some(served) = row.reference.done() else { continue };
        let (a, b) = (place(rate(served) / fastest), place(gap(served) / longest));
        text(LEFT + a + 5.0, y + 9.0, "start", &format!("{:.0}", rate(served)));
        text(LEFT + b + 5.0, y + 21.0, "start", &format!("{:.1} ms", 1e3 * gap(served)));
    }
    for (i, row) in report.ways.iter().enumerate() {
        let y = 30.0 + STEP * i as f64;
        let Some(served) = row.reference.done() else { continue };
        for (share, y, colour) in
            [(rate(served) / fastest, y, BLUE), (gap(served) / longest, y + 12.0, ORANGE)]
        {
            let _ = writeln!(
                shapes,
                r#"<rect x="{LEFT}" y="{y:.1}" width="{:.1}" height="10" fill="{colour}"/>"#,
                place(share).max(1.0)
            );
        }
        if let Some(yours) = row.yours.as_ref().and_then(|yours| yours.done()) {
            let _ = writeln!(
                shapes,
                r#"<circle cx="{:.1}" cy="{:.1}" r="4" fill="{GREEN}"/>"#,
                LEFT + place(rate(yours) / fastest),
                y + 5.0
            );
        }
    }
    let height = 30.0 + STEP * report.ways.len() as f64 + 6.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         width=\"{WIDTH}\" height=\"{height:.0}\" font-family=\"DejaVu Sans, sans-serif\" \
         font-size=\"11\" fill=\"currentColor\">\n{shapes}</svg>\n"
    )
}
