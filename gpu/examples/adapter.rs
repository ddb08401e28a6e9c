//! Prints the name of the GPU, or why there is none, with exit code 1.

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
