//! Draws the results: the steps as bars, and the roofline. Text and lines have the colour of the
//! page.

use super::{
    super::svg::{BLUE, GREEN, GREY, ORANGE, Svg, WIDTH},
    Report,
    engine::Measured,
    table::rate,
};

/// Returns both drawings, one above the other, as an SVG file.
pub(super) fn drawing(report: &Report) -> String {
    let mut svg = Svg::default();
    let end = bars(&mut svg, report);
    let end = roofline(&mut svg, report, end + 50.0);
    svg.finish(end + 10.0)
}

/// A logarithmic axis: maps values from `from` to `to` to positions from `start` to `end`.
struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// Creates an axis of whole decades that includes all values.
    fn around(values: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        let (from, to) = if most > 0.0 {
            (10f64.powf(least.log10().floor()), 10f64.powf(most.log10().ceil()))
        } else {
            (1.0, 10.0)
        };
        Self { from, to: to.max(10.0 * from), start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value / self.from).ln() / (self.to / self.from).ln();
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        let (first, last) = (self.from.log10().round() as i32, self.to.log10().round() as i32);
        (first..=last).map(|exponent| 10f64.powi(exponent))
    }
}

/// Draws the tokens per second of every step: the reference's as bars, the learner's as dots.
/// Returns the lower edge of the drawing.
fn bars(svg: &mut Svg, report: &Report) -> f64 {
    const LEFT: f64 = 210.0;
    const STEP: f64 = 34.0;
    type Rate = fn(&Measured) -> Option<f64>;
    let rates: [(&str, Rate, &str); 2] = [
        ("prefill", |m| Some(m.prefill_tokens_per_second), ORANGE),
        ("decode", |m| m.decode_tokens_per_second, BLUE),
    ];
    let rows: Vec<(&str, Option<&Measured>, Option<&Measured>)> = report
        .cumulative
        .iter()
        .map(|row| {
            (row.name, row.reference.done(), row.yours.as_ref().and_then(|outcome| outcome.done()))
        })
        .chain(report.peers.iter().map(|(name, peer)| (*name, Some(peer), None)))
        .collect();
    let all = rows
        .iter()
        .flat_map(|(_, ours, yours)| [*ours, *yours])
        .flatten()
        .flat_map(|m| rates.map(|(_, rate, _)| rate(m)))
        .flatten();
    let axis = Axis::around(all, LEFT, WIDTH - 60.0);
    let (top, bottom) = (40.0, 40.0 + STEP * rows.len() as f64);

    svg.text(
        (0.0, 14.0),
        "start",
        "tokens per second, each step added to the previous ones (logarithmic)",
    );
    svg.bar((LEFT, 22.0), 24.0, ORANGE);
    svg.text((LEFT + 30.0, 31.0), "start", "prefill");
    svg.bar((LEFT + 90.0, 22.0), 24.0, BLUE);
    svg.text((LEFT + 120.0, 31.0), "start", "decode");
    if rows.iter().any(|(_, _, yours)| yours.is_some()) {
        svg.dot((LEFT + 190.0, 27.0), GREEN);
        svg.text((LEFT + 200.0, 31.0), "start", "yours");
    }
    for value in axis.decades() {
        svg.line((axis.at(value), top), (axis.at(value), bottom), GREY, "2 4");
        svg.text((axis.at(value), bottom + 14.0), "middle", &format!("{value}"));
    }
    for (i, (name, ours, yours)) in rows.iter().enumerate() {
        let y = top + STEP * i as f64 + 4.0;
        svg.text((LEFT - 8.0, y + 15.0), "end", name);
        for (j, (_, field, colour)) in rates.iter().enumerate() {
            let y = y + 12.0 * j as f64;
            if let Some(value) = ours.and_then(field) {
                svg.bar((LEFT, y), axis.at(value) - LEFT, colour);
                svg.text((axis.at(value) + 5.0, y + 9.0), "start", &rate(Some(value)));
            }
            if let Some(value) = yours.and_then(field) {
                svg.dot((axis.at(value), y + 5.0), GREEN);
            }
        }
    }
    bottom + 20.0
}

/// Draws operations per second over operations per byte of weights. The slope of the roof is the
/// memory bandwidth. Decoding does two operations with each weight that it reads, and a prompt of
/// `T` tokens does `2 T`.
fn roofline(svg: &mut Svg, report: &Report, top: f64) -> f64 {
    let Some(bandwidth) = report.bandwidth() else { return top - 50.0 };
    let rows = report.cumulative.iter().enumerate();
    let points: Vec<Point> =
        rows.flat_map(|(i, row)| points(i + 1, row.reference.done())).collect();
    let x = Axis::around(points.iter().map(|point| point.intensity), 60.0, WIDTH - 20.0);
    let (height, bottom) = (260.0, top + 280.0);
    let units = report.finished().and_then(|m| m.matrix_unit_operations_per_second);
    // The vertical axis includes the roof above decoding.
    let roof = points.iter().map(|point| point.intensity).fold(f64::INFINITY, f64::min) * bandwidth;
    let heights = points
        .iter()
        .map(|point| point.operations)
        .chain([roof])
        .chain(units)
        .map(|operations| operations / 1e9);
    let y = Axis::around(heights, bottom, bottom - height);

    svg.text(
        (0.0, top),
        "start",
        "roofline: GOP/s (vertical) by operations per byte of weights (horizontal), both \
         logarithmic",
    );
    for value in x.decades() {
        svg.line((x.at(value), bottom), (x.at(value), bottom - height), GREY, "2 4");
        svg.text((x.at(value), bottom + 14.0), "middle", &format!("{value}"));
    }
    for value in y.decades() {
        svg.line((x.start, y.at(value)), (x.end, y.at(value)), GREY, "2 4");
        svg.text((x.start - 6.0, y.at(value) + 4.0), "end", &format!("{value}"));
    }
    // The part of the roof inside the frame begins at the left edge, or where the roof enters at
    // the bottom.
    let at = |intensity: f64| (x.at(intensity), y.at(intensity * bandwidth / 1e9));
    let highest = units.unwrap_or(y.to * 1e9);
    let (from, to) = (x.from.max(y.from * 1e9 / bandwidth), x.to.min(highest / bandwidth));
    svg.line(at(from), at(to), "currentColor", "none");
    let middle = at((from * to).sqrt());
    svg.text(
        (middle.0 + 8.0, middle.1 + 4.0),
        "start",
        &format!("memory: {:.1} GB/s", bandwidth / 1e9),
    );
    if let Some(units) = units {
        let y = y.at(units / 1e9);
        svg.line((x.at(to), y), (x.end, y), "currentColor", "none");
        svg.text((x.end, y - 6.0), "end", &format!("matrix units: {:.1} TOP/s", units / 1e12));
    }
    // Labels that would overlap are combined.
    let mut labels: Vec<((f64, f64), String)> = Vec::new();
    for Point { step, intensity, operations, colour } in points {
        let place = (x.at(intensity), y.at(operations / 1e9));
        svg.dot(place, colour);
        let near = |(to, _): &&mut ((f64, f64), String)| {
            (to.0 - place.0).abs() < 4.0 && (to.1 - place.1).abs() < 11.0
        };
        match labels.iter_mut().find(near) {
            Some((_, label)) => label.push_str(&format!(", {step}")),
            None => labels.push((place, step.to_string())),
        }
    }
    for (place, label) in labels {
        // Near the right edge, there is only room on the left.
        let (aside, anchor) = if place.0 > x.end - 60.0 { (-6.0, "end") } else { (6.0, "start") };
        svg.text((place.0 + aside, place.1 + 4.0), anchor, &label);
    }
    svg.text(
        (0.0, bottom + 34.0),
        "start",
        "The numbers are the steps above, from the top; blue is decode, orange prefill.",
    );
    bottom + 38.0
}

/// A point in the roofline diagram.
struct Point {
    /// Step number, counted from 1.
    step: usize,
    /// Operations per byte of weights.
    intensity: f64,
    /// Operations per second.
    operations: f64,
    colour: &'static str,
}

/// Returns a step's points: decoding and prefill.
fn points(step: usize, measured: Option<&Measured>) -> Vec<Point> {
    let known =
        measured.and_then(|m| Some((m, m.weight_bytes_per_token?, m.operations_per_token?)));
    let Some((m, bytes, operations)) = known else { return Vec::new() };
    let point = |rows: f64, rate: f64, colour| Point {
        step,
        intensity: rows * operations / bytes,
        operations: rate * operations,
        colour,
    };
    let decode = m.decode_tokens_per_second.map(|rate| point(1.0, rate, BLUE));
    decode
        .into_iter()
        .chain([point(m.prompt_tokens as f64, m.prefill_tokens_per_second, ORANGE)])
        .collect()
}
