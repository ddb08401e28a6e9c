//! Which graphics processor there is: its name, or why there is none and the exit code 1.

use std::process::ExitCode;

use tiny_llm_gpu::Gpu;

fn main() -> ExitCode {
    match Gpu::open() {
        Ok(gpu) => {
            println!("{}", gpu.about());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
