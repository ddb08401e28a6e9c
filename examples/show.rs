//! Draws a picture with your own functions at the end of a day: `cargo show week1-day1`.
//!
//! The inputs come from a trained model. `python-ref/oracle/show.py` writes them to
//! `tests/fixtures/show.safetensors`.

#[cfg(feature = "week1-day1")]
#[path = "show/attention.rs"]
mod attention;
#[cfg(feature = "week1-day3")]
#[path = "show/gqa.rs"]
mod gqa;
#[cfg(feature = "week1-day4")]
#[path = "show/mlp.rs"]
mod mlp;
#[cfg(feature = "week1-day5")]
#[path = "show/next.rs"]
mod next;
#[cfg(feature = "week1-day2")]
#[path = "show/rope.rs"]
mod rope;

fn main() {
    #[cfg(feature = "week1-day1")]
    attention::show();
    #[cfg(feature = "week1-day2")]
    rope::show();
    #[cfg(feature = "week1-day3")]
    gqa::show();
    #[cfg(feature = "week1-day4")]
    mlp::show();
    #[cfg(feature = "week1-day5")]
    next::show();
}
