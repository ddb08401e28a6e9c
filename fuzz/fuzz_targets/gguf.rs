//! Reads arbitrary bytes as a GGUF file. The result is a model, or an error of one line that names
//! the file. Memory is limited by `-rss_limit_mb` and `-malloc_limit_mb`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tiny_llm_reference::week2::{gguf::Gguf, load::load_gguf};

/// The context length. The RoPE table grows with it, so it is short.
const CONTEXT: usize = 16;

fuzz_target!(|data: &[u8]| {
    let one_line = |error: anyhow::Error| {
        let text = format!("{error:#}");
        assert!(!text.contains('\n') && text.starts_with("fuzz.gguf: "), "{text:?}");
    };
    match Gguf::parse(data.to_vec().into(), "fuzz.gguf") {
        Ok(gguf) => {
            // All tensors are inside the file.
            let bytes: usize = gguf.tensors.iter().map(|tensor| gguf.bytes_of(tensor).len()).sum();
            assert!(bytes <= data.len());
            if let Err(error) = load_gguf(&gguf, CONTEXT) {
                one_line(error);
            }
        }
        Err(error) => one_line(error),
    }
});
