//! Progress: a bar for each file on a terminal, lines elsewhere.

use std::{
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// Minimum time between two lines about the progress of one file.
const PERIOD: Duration = Duration::from_secs(10);

/// How progress is shown.
#[derive(Debug, Clone, Copy)]
pub enum Show {
    /// Bars on a terminal.
    Bars,
    /// Lines on standard error.
    Lines,
    /// No output.
    Nothing,
}

/// The progress of one file.
pub(crate) struct Progress<'a> {
    show: Show,
    file: &'a str,
    size: u64,
    /// Number of bytes that were stored when the download began.
    first: u64,
    have: u64,
    begin: Instant,
    last: Instant,
    bar: Option<ProgressBar>,
}

impl Show {
    /// Returns [`Show::Bars`] if standard error is a terminal, otherwise [`Show::Lines`].
    #[must_use]
    pub fn for_standard_error() -> Self {
        if stderr().is_terminal() { Self::Bars } else { Self::Lines }
    }

    /// Shows a line.
    pub(crate) fn note(self, line: &str) {
        if !matches!(self, Self::Nothing) {
            let _ = writeln!(stderr(), "{line}");
        }
    }

    /// Starts to show the progress of a file whose first `have` bytes are stored.
    pub(crate) fn file(self, file: &str, size: u64, have: u64) -> Progress<'_> {
        let bar = matches!(self, Self::Bars).then(|| {
            let style = ProgressStyle::with_template(
                "{msg} {bar:24} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, \
                 {eta} left",
            );
            let bar = ProgressBar::new(size).with_style(style.expect("a template"));
            bar.set_message(file.to_owned());
            bar.set_position(have);
            bar.reset_eta();
            bar
        });
        let now = Instant::now();
        Progress { show: self, file, size, first: have, have, begin: now, last: now, bar }
    }
}

impl Progress<'_> {
    /// Shows that `have` bytes of the file are stored.
    pub(crate) fn at(&mut self, have: u64) {
        self.have = have;
        // The server may have started again from the first byte.
        self.first = self.first.min(have);
        if let Some(bar) = &self.bar {
            bar.set_position(have);
        } else if self.last.elapsed() >= PERIOD {
            self.last = Instant::now();
            self.show.note(&self.line());
        }
    }

    /// Shows a line above the bar.
    pub(crate) fn note(&self, line: &str) {
        let line = format!("{}: {line}", self.file);
        match &self.bar {
            Some(bar) => bar.println(line),
            None => self.show.note(&line),
        }
    }

    /// Shows that the file is complete.
    pub(crate) fn done(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let (bytes, time) = (self.have - self.first, self.begin.elapsed());
        let rate = bytes as f64 / time.as_secs_f64().max(1e-3);
        self.show.note(&format!("{}: {}, {}/s", self.file, size(self.size), size(rate as u64)));
    }

    fn line(&self) -> String {
        let (bytes, time) = (self.have - self.first, self.begin.elapsed().as_secs_f64());
        let rate = bytes as f64 / time.max(1e-3);
        let left = (self.size - self.have) as f64 / rate.max(1.0);
        format!(
            "{}: {} of {}, {}/s, {left:.0} s left",
            self.file,
            size(self.have),
            size(self.size),
            size(rate as u64)
        )
    }
}

/// Formats a number of bytes: `494 B`, `1.3 MB`, `988.1 MB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1e3;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn formats_sizes_with_units() {
        let shown = [0, 999, 1000, 999_960, 988_097_824, u64::MAX].map(size);
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "1.0 MB", "988.1 MB", "18.4 EB"]);
    }
}
