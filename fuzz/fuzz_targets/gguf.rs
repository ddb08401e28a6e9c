//! Any bytes as a GGUF file: one line that names the file or a model, never a panic, and no more
//! memory than the file justifies (`-rss_limit_mb`, `-malloc_limit_mb`).
#![no_main]

use libfuzzer_sys::fuzz_target;
use tiny_llm_reference::week2::{gguf::Gguf, load::load_gguf};

/// RoPE's table grows with it, whatever the file.
const CONTEXT: usize = 16;

fuzz_target!(|data: &[u8]| {
    let one_line = |error: anyhow::Error| {
        let text = format!("{error:#}");
        assert!(!text.contains('\n') && text.starts_with("fuzz.gguf: "), "{text:?}");
    };
    match Gguf::parse(data.to_vec().into(), "fuzz.gguf") {
        Ok(gguf) => {
            // Whatever was read lies in the file.
            let bytes: usize = gguf.tensors.iter().map(|tensor| gguf.bytes_of(tensor).len()).sum();
            assert!(bytes <= data.len());
            if let Err(error) = load_gguf(&gguf, CONTEXT) {
                one_line(error);
            }
        }
        Err(error) => one_line(error),
    }
});
