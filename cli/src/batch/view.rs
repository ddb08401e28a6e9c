//! The display of a batch in a terminal: a progress bar and, with `--watch`, the batch slots.

use std::{
    io::{IsTerminal, stderr},
    time::Instant,
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::serving::{BatchCounts, BatchRow};

/// The lines at the bottom of a terminal that show a batch's progress. If standard error is not a
/// terminal, nothing is shown.
pub(super) struct View {
    total: ProgressBar,
    places: Vec<ProgressBar>,
    start: Instant,
}

impl View {
    /// Creates a view for `requests` requests. It has a progress bar and a line for each of
    /// `places` slots.
    pub(super) fn new(requests: usize, places: usize) -> Self {
        let target = if stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let all = MultiProgress::with_draw_target(target);
        let line = ProgressStyle::with_template("{msg}").expect("a template");
        let bar = ProgressStyle::with_template("{bar:30} {pos} of {len}  {msg}");
        let places = (0..places).map(|_| {
            let place = all.add(ProgressBar::new(0));
            place.set_style(line.clone());
            place
        });
        let places = places.collect();
        let total = all.add(ProgressBar::new(requests as u64));
        total.set_style(bar.expect("a template"));
        Self { total, places, start: Instant::now() }
    }

    /// Updates the view after a step. `line(id)` returns a request's line number in the file.
    pub(super) fn show(
        &self,
        answered: usize,
        new_tokens: usize,
        counts: BatchCounts,
        rows: &[BatchRow],
        line: impl Fn(u64) -> usize,
    ) {
        for (slot, place) in self.places.iter().enumerate() {
            let row = rows.iter().find(|row| row.slot == slot);
            place.set_message(match row {
                None => format!("{slot:>3}  free"),
                Some(row) if row.new == 0 => {
                    let BatchRow { id, prompt, computed, .. } = *row;
                    format!("{slot:>3}  line {:<6} prompt {computed} of {prompt}", line(id))
                }
                Some(row) => {
                    let BatchRow { id, prompt, new, .. } = *row;
                    format!("{slot:>3}  line {:<6} prompt {prompt}, new {new}", line(id))
                }
            });
        }
        let rate = new_tokens as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
        let each = counts.rows as f64 / counts.steps.max(1) as f64;
        self.total.set_position(answered as u64);
        let pages = counts.pages.map(|p| format!(", {} of {} pages", p.used, p.pages));
        let pages = pages.unwrap_or_default();
        self.total.set_message(format!("{rate:.1} tokens/s, {each:.1} rows a step{pages}"));
    }

    /// Removes the lines from the terminal.
    pub(super) fn clear(&self) {
        self.places.iter().for_each(ProgressBar::finish_and_clear);
        self.total.finish_and_clear();
    }
}
