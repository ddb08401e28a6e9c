//! A local hub that serves a folder as the repository `owner/name`, for experiments and for tests
//! in Python: `cargo run --package tiny-llm-fetch --example hub FOLDER [PORT]`.

#[path = "../tests/fetch/hub.rs"]
mod hub;

use std::{fs, thread};

use hub::{Act, Hub, Stored};

/// Minimum size, in bytes, of files that the hub serves from its second address.
const LARGE: usize = 50_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let port = arguments.next().map_or(0, |port| port.parse().expect("a port"));
    let files = fs::read_dir(folder).expect("a folder").map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let content = fs::read(&path).expect("a file");
        let large = content.len() >= LARGE;
        Stored::new(name, content, large)
    });
    let hub = Hub::start_at(port, files.collect(), |_| Act::Serve);
    println!("{}", hub.endpoint());
    loop {
        thread::park();
    }
}
