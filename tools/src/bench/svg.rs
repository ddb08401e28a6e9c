//! The shapes of a drawing of results. Text and lines have the colour of the page.

use std::fmt::Write;

pub(super) const WIDTH: f64 = 760.0;
pub(super) const BLUE: &str = "#4c8bf5";
pub(super) const ORANGE: &str = "#e8853a";
pub(super) const GREEN: &str = "#3fa66b";
pub(super) const GREY: &str = "#8a919b";

#[derive(Default)]
pub(super) struct Svg {
    shapes: String,
}

impl Svg {
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            self.shapes,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, dash: &str) {
        let _ = writeln!(
            self.shapes,
            r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{colour}" stroke-dasharray="{dash}"/>"#,
            from.0, from.1, to.0, to.1
        );
    }

    pub(super) fn bar(&mut self, (x, y): (f64, f64), width: f64, colour: &str) {
        let _ = writeln!(
            self.shapes,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{:.1}" height="10" fill="{colour}"/>"#,
            width.max(1.0)
        );
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), colour: &str) {
        let _ = writeln!(self.shapes, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{colour}"/>"#);
    }

    pub(super) fn finish(self, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
             width=\"{WIDTH}\" height=\"{height:.0}\" font-family=\"DejaVu Sans, sans-serif\" \
             font-size=\"11\" fill=\"currentColor\">\n\
             {}</svg>\n",
            self.shapes
        )
    }
}
