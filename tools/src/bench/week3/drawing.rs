//! Draws the results as bars: tokens per second, and the longest inter-token latency. Text and
//! lines have the colour of the page.

use super::{
    super::svg::{BLUE, GREEN, ORANGE, Svg, WIDTH},
    Report,
    served::Served,
};

const LEFT: f64 = 150.0;
const STEP: f64 = 36.0;

/// Returns an SVG file.
pub(super) fn drawing(report: &Report) -> String {
    let rate = |served: &Served| served.tokens_per_second;
    let gap = |served: &Served| served.longest_gap_s.p99.unwrap_or(0.0);
    let all = report.ways.iter().filter_map(|row| row.reference.done());
    let most = |f: &dyn Fn(&Served) -> f64| all.clone().map(f).fold(1e-9, f64::max);
    let (fastest, longest) = (most(&rate), most(&gap));
    let place = |share: f64| (WIDTH - LEFT - 90.0) * share.clamp(0.0, 1.0);
    let mut svg = Svg::default();
    svg.text(
        (0.0, 14.0),
        "start",
        "new tokens/s (blue), 99th percentile of the requests' longest gaps (orange), your \
         tokens/s (green)",
    );
    for (i, row) in report.ways.iter().enumerate() {
        let y = 30.0 + STEP * i as f64;
        svg.text((LEFT - 8.0, y + 15.0), "end", row.name);
        let Some(served) = row.reference.done() else { continue };
        let (a, b) = (place(rate(served) / fastest), place(gap(served) / longest));
        svg.text((LEFT + a + 5.0, y + 9.0), "start", &format!("{:.0}", rate(served)));
        svg.text((LEFT + b + 5.0, y + 21.0), "start", &format!("{:.1} ms", 1e3 * gap(served)));
        svg.bar((LEFT, y), a, BLUE);
        svg.bar((LEFT, y + 12.0), b, ORANGE);
        if let Some(yours) = row.yours.as_ref().and_then(|yours| yours.done()) {
            svg.dot((LEFT + place(rate(yours) / fastest), y + 5.0), GREEN);
        }
    }
    svg.finish(30.0 + STEP * report.ways.len() as f64 + 6.0)
}
