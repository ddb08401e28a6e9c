//! Reads how a text is normalised and cut into pieces. Byte-pair encoding merges within each piece.

use anyhow::Result;
use serde_json::Value as Json;

use super::{super::super::WHOLE, TokenizerFile};

impl TokenizerFile {
    /// Returns whether a byte-level tokenizer first converts text to Unicode's normal form C, and
    /// whether it converts text to lower case.
    pub(super) fn normalizes(&self) -> Result<(bool, bool)> {
        match self.steps("normalizer", "normalizers")[..] {
            [] => Ok((false, false)),
            [step] if step["type"] == "NFC" => Ok((true, false)),
            [step] if step["type"] == "Lowercase" => Ok((false, true)),
            _ => self.wrong("normalizer", "NFC, Lowercase or nothing"),
        }
    }

    /// Returns whether a word that is itself a token is used whole, without merging its bytes.
    pub(super) fn whole_words(&self) -> bool {
        self.json["model"]["ignore_merges"] == true
    }

    /// Returns llama.cpp's name for the byte-level pre-tokenizer, or [`WHOLE`] if it cuts nothing.
    pub(super) fn pre_tokenizer(&self) -> Result<&'static str> {
        const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
        const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
        const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
        let steps = self.steps("pre_tokenizer", "pretokenizers");
        let Some((last, first)) = steps.split_last() else {
            return self.wrong("pre_tokenizer", "a byte-level pre-tokenizer");
        };
        let byte_level = last["type"] == "ByteLevel" && last["add_prefix_space"] == false;
        let gpt2 = last["use_regex"].as_bool().unwrap_or(true);
        let name = match first {
            [] if gpt2 => Some("gpt-2"),
            [] => Some(WHOLE),
            [digits]
                if digits["type"] == "Digits" && digits["individual_digits"] == true && gpt2 =>
            {
                Some("smollm")
            }
            [split] if cuts(split) && !gpt2 => match split["pattern"]["Regex"].as_str() {
                Some(LLAMA3) if self.whole_words() => Some("llama-bpe"),
                // The pieces are Llama 3's, but a piece that is itself a token is still merged from
                // its bytes.
                Some(LLAMA3) => Some("smaug-bpe"),
                Some(QWEN2) => Some("qwen2"),
                Some(O200K) => Some("gpt-4o"),
                _ => None,
            },
            _ => None,
        };
        match name.filter(|_| byte_level) {
            Some(name) => Ok(name),
            None => self.wrong(
                "pre_tokenizer",
                "the pre-tokenizer of GPT-2, gpt-oss, Llama 3, Qwen2 or SmolLM",
            ),
        }
    }

    /// Returns when a space is added before a text:
    ///
    /// - `never`.
    /// - `always`: before every piece of text between special tokens.
    /// - `metaspace-first` or `metaspace-always`: as the `Metaspace` pre-tokenizer does. It adds no
    ///   space if there already is one. GGUF has no names for these two.
    pub(super) fn space_prefix(&self) -> Result<&'static str> {
        let is = |step: &Json, kind: &str| step["type"] == kind;
        let replace = |step: &Json| {
            is(step, "Replace") && step["pattern"]["String"] == " " && step["content"] == "▁"
        };
        let prepend = |step: &Json| is(step, "Prepend") && step["prepend"] == "▁";
        let (normalizer, pre) =
            (self.steps("normalizer", "normalizers"), self.steps("pre_tokenizer", "pretokenizers"));
        match (&normalizer[..], &pre[..]) {
            ([first, second], []) if prepend(first) && replace(second) => Ok("always"),
            ([only], []) if replace(only) => Ok("never"),
            ([], [step])
                if is(step, "Metaspace")
                    && step["replacement"] == "▁"
                    && step["split"] == false =>
            {
                match step["prepend_scheme"].as_str() {
                    Some("first") => Ok("metaspace-first"),
                    Some("always") => Ok("metaspace-always"),
                    Some("never") => Ok("never"),
                    _ => self.wrong(
                        "pre_tokenizer",
                        "a Metaspace whose prepend_scheme is \"first\", \"always\" or \"never\"",
                    ),
                }
            }
            _ => {
                let field = if normalizer.is_empty() { "pre_tokenizer" } else { "normalizer" };
                self.wrong(field, &format!("SentencePiece's {field}, or a byte-level decoder"))
            }
        }
    }
}

/// Returns whether a `Split` step turns each match of its pattern into a separate piece. The
/// supported patterns match every character, so `Removed` removes nothing.
fn cuts(split: &Json) -> bool {
    split["type"] == "Split"
        && match split["behavior"].as_str() {
            Some("Isolated") => split["invert"] == false,
            Some("Removed") => split["invert"] == true,
            _ => false,
        }
}
