//! `cargo course`.

fn main() -> std::process::ExitCode {
    course::cli::main()
}
