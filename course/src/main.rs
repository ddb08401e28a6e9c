//! The runner behind `cargo course`.
fn main() {}
