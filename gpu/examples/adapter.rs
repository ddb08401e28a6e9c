//! Prints the name of the GPU. If there is none, prints why and exits with code 1.

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
