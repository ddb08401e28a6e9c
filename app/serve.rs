//! `tiny-llm-serve`: the same command line, with the server's network code. `cargo llm serve` runs
//! it. It is a separate program so that generating text does not require building the network code.

#[path = "main.rs"]
mod command_line;

fn main() -> std::process::ExitCode {
    command_line::main()
}
