//! `tiny-llm-serve`: the same command line with the network, which `cargo llm serve` runs. It is a
//! separate program so that generating text does not require building the network code.

#[path = "main.rs"]
mod command_line;

fn main() -> std::process::ExitCode {
    command_line::main()
}
