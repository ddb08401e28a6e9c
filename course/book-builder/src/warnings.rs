//! mdBook reports problems in chapters through `tracing` and continues. This module collects the
//! problems, so that they make the build fail.

use std::sync::Mutex;

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts to collect warnings.
pub(crate) fn collect() {
    tracing::subscriber::set_global_default(Collector).expect("set once, at the start");
}

/// Returns the warnings since the last call.
pub(crate) fn take() -> Vec<String> {
    std::mem::take(&mut *WARNINGS.lock().expect("nobody panics while holding it"))
}

struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Only mdBook's own warnings: its HTML parser also reports recoverable details as warnings.
        *metadata.level() <= Level::WARN && metadata.target().starts_with("mdbook")
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Message);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Message;

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            WARNINGS.lock().expect("nobody panics while holding it").push(format!("{value:?}"));
        }
    }
}
