//! A live view of the batch: the request in each slot, and the owner of each page.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tiny_llm_cli::{Batch, BatchRow, PageUse};
use tokio::sync::watch;

use crate::metrics::Metrics;

/// Minimum time between two views. More frequent views would be too fast to see, and each one costs
/// time on the engine's thread.
const PERIOD: Duration = Duration::from_millis(100);
/// Maximum number of pages in a view. If the cache has more pages, only the first ones are sent.
const MAX_PAGES: usize = 16_384;

/// A function that receives the engine's id of a request. It returns the client's ticket, the index
/// of the answer, and the user's name.
type Who<'a> = dyn Fn(u64) -> Option<(u64, usize, Option<String>)> + 'a;

/// Sends views of the batch to viewers.
pub(crate) struct Live {
    views: watch::Sender<Arc<str>>,
    start: Instant,
    shown: Option<Instant>,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self { views: watch::Sender::new("{}".into()), start: Instant::now(), shown: None }
    }

    /// Returns the channel to which the views are sent.
    pub(crate) fn views(&self) -> watch::Sender<Arc<str>> {
        self.views.clone()
    }

    /// Sends a view of the batch if there are viewers, unless the previous view is recent. If
    /// `last` is set, sends it even then, because no step follows soon or a viewer has joined.
    pub(crate) fn show(&mut self, batch: &dyn Batch, metrics: &Metrics, who: &Who<'_>, last: bool) {
        if self.views.receiver_count() == 0 {
            return;
        }
        let now = Instant::now();
        if !last && self.shown.is_some_and(|shown| now - shown < PERIOD) {
            return;
        }
        self.shown = Some(now);
        let view = view(batch, metrics, who, now - self.start);
        self.views.send_replace(view.to_string().into());
    }
}

fn view(batch: &dyn Batch, metrics: &Metrics, who: &Who<'_>, time: Duration) -> Value {
    let rows = batch.rows().into_iter().map(|row| {
        let BatchRow { slot, id, prompt, computed, new } = row;
        let (ticket, choice, user) = who(id).unwrap_or_default();
        json!({
            "slot": slot, "request": ticket, "choice": choice, "user": user,
            "prompt": prompt, "computed": computed, "new": new,
        })
    });
    let counts = batch.counts();
    let pages = counts.pages.map(|pages| {
        let map = batch.page_map();
        let map: Vec<i64> = map.iter().take(MAX_PAGES).map(code).collect();
        json!({
            "pages": pages.pages, "page_len": pages.page_len, "used": pages.used,
            "preempted": pages.preempted, "map": map,
            "found": pages.found.map(|(found, asked)| [found, asked]),
        })
    });
    json!({
        "seconds": time.as_secs_f64(),
        "new_tokens": metrics.tokens[1].load(Relaxed),
        "steps": counts.steps,
        "computed_rows": counts.rows,
        "waiting": batch.waiting(),
        "drafts": counts.drafts.map(|(accepted, drafted)| [accepted, drafted]),
        "rows": rows.collect::<Vec<_>>(),
        "pages": pages,
    })
}

/// Encodes the use of a page: 0 if the page is free, 1 if it is remembered, `2 + slot` if one
/// request uses it, `-2 - slot` if several do.
fn code(page: &PageUse) -> i64 {
    match *page {
        PageUse::Free => 0,
        PageUse::Remembered => 1,
        PageUse::Owned { slot, shared: false } => 2 + slot as i64,
        PageUse::Owned { slot, shared: true } => -2 - slot as i64,
    }
}
