//! Compares a GGUF file's tokenizer with a model folder's, for random texts and ids. In Python,
//! `test_tokenizers.py` compares the folder's tokenizer with Hugging Face's.

use tiny_llm_formats::text::Tokenizer;

use super::{fixtures, tokenizers};

#[test]
fn gguf_and_folder_tokenizers_match() {
    let fixtures = fixtures();
    for (name, case, metadata) in tokenizers(&fixtures) {
        // The converter never makes these two kinds from a folder.
        if ["no_name", "llama2_no_bytes"].contains(&name) {
            continue;
        }
        let gguf = Tokenizer::from_gguf(&metadata).unwrap();
        let json = Tokenizer::from_json(&case["file"].to_string(), name).unwrap();
        let size = gguf.vocab_size() as u32;
        assert_eq!(size as usize, json.vocab_size(), "{name}");
        assert!(gguf.decode(&[size]).is_err() && gguf.token_bytes(size).is_empty(), "{name}");
        // The ids are random. So bytes may not form characters, and special tokens may be
        // anywhere.
        let mut draw = Draw(1);
        for _ in 0..400 {
            let text: String = (0..draw.below(30)).map(|_| draw.character()).collect();
            assert_eq!(
                gguf.encode(&text).unwrap(),
                json.encode(&text).unwrap(),
                "{name}: {text:?}"
            );
            let [gguf_prompt, json_prompt] = [&gguf, &json].map(|one| one.encode_prompt(&text));
            assert_eq!(gguf_prompt.unwrap(), json_prompt.unwrap(), "{name}: {text:?}");
            let ids: Vec<u32> = (0..draw.below(8)).map(|_| draw.below(size)).collect();
            assert_eq!(gguf.decode(&ids).unwrap(), json.decode(&ids).unwrap(), "{name}: {ids:?}");
        }
    }
}

/// Pseudo-random numbers, the same in every run.
struct Draw(u32);

impl Draw {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % end
    }

    /// Returns a random character, often one that tokenizers handle differently.
    fn character(&mut self) -> char {
        const OFTEN: &[char] = &[
            ' ', ' ', ' ', '\n', '\r', '\t', '\'', 's', 'l', 'T', 'a', 'b', '0', '7', '.', ',',
            '<', '>', '|', '▁', '\u{301}', '\u{A0}', 'é', 'S', 'Σ', 'ſ', 'ª', 'ǅ', '日', '/',
        ];
        match self.below(3) {
            0 => char::from_u32(self.below(0x3_0000)).unwrap_or('\u{FFFD}'),
            1 => char::from_u32(self.below(0x800)).expect("no surrogate"),
            _ => OFTEN[self.below(OFTEN.len() as u32) as usize],
        }
    }
}
