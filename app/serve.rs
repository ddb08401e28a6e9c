//! `tiny-llm-serve`, the same command line with the network: what `cargo llm serve` becomes. A program
//! of its own, because nobody should wait for the network's build to generate a text.

#[path = "main.rs"]
mod command_line;

fn main() -> std::process::ExitCode {
    command_line::main()
}
