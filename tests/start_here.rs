//! What a plain `cargo test` says: green, and where to begin.

fn main() {
    if cfg!(any(feature = "week1")) {
        return;
    }
    println!("Nothing is checked yet: each day of the course has a feature of its own.");
}
