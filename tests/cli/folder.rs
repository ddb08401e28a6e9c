//! Temporary model folders.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::process::run;

/// Folders of models that the repository has.
pub(crate) const STORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story");
pub(crate) const DRAFT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story-draft");
pub(crate) const LLM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-llm");
pub(crate) const MIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-mixture");

/// A folder with a unique name, which is removed when this value is dropped.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

/// Vocabulary of `synth --like tiny`, a Llama of 2 layers with a context of 24.
pub(crate) const VOCABULARY: usize = 51;
pub(crate) const CONTEXT: usize = 24;

impl Folder {
    /// Returns a path that does not exist.
    pub(crate) fn absent() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self { path: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name) }
    }

    /// Creates an empty folder.
    pub(crate) fn empty() -> Self {
        let folder = Self::absent();
        fs::create_dir_all(&folder.path).expect("the target folder is writable");
        folder
    }

    /// Creates the tiny model without a stop token, so that no random choice ends a test early.
    pub(crate) fn model() -> Self {
        let folder = Self::absent();
        run(&["synth", "--like", "tiny", "--out", folder.name(), "--seed", "7"]).succeeds("synth");
        folder.edit_config("\"eos_token_id\": 0", "\"eos_token_id\": null");
        folder
    }

    /// Creates the tiny model with a tokenizer: single letters, ChatML's tokens, and `<s>` before
    /// every text.
    pub(crate) fn model_with_tokenizer() -> Self {
        let folder = Self::model();
        let special = ["<unk>", "<s>", "<|im_start|>", "<|im_end|>"].map(str::to_owned);
        let letters = (b'a'..=b'z')
            .chain(b'A'..=b'T')
            .map(|b| char::from(b).to_string())
            .chain(["▁".to_owned()]);
        let tokens: Vec<_> = special.into_iter().chain(letters).collect();
        assert_eq!(tokens.len(), VOCABULARY);
        let entries: Vec<_> =
            tokens.iter().enumerate().map(|(id, token)| format!("{token:?}: {id}")).collect();
        let added = |id: usize| {
            format!(
                r#"{{"id": {id}, "content": {:?}, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}}"#,
                tokens[id]
            )
        };
        let json = format!(
            r#"{{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [{}, {}, {}],
               "normalizer": {{"type": "Replace", "pattern": {{"String": " "}}, "content": "▁"}}, "pre_tokenizer": null,
               "post_processor": {{"type": "TemplateProcessing",
                 "single": [{{"SpecialToken": {{"id": "<s>", "type_id": 0}}}}, {{"Sequence": {{"id": "A", "type_id": 0}}}}],
                 "pair": [{{"Sequence": {{"id": "A", "type_id": 0}}}}, {{"Sequence": {{"id": "B", "type_id": 0}}}}],
                 "special_tokens": {{"<s>": {{"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}}}},
               "decoder": {{"type": "Sequence", "decoders": [
                 {{"type": "Replace", "pattern": {{"String": "▁"}}, "content": " "}}, {{"type": "ByteFallback"}}, {{"type": "Fuse"}}]}},
               "model": {{"type": "BPE", "vocab": {{{}}}, "merges": [], "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true}}}}"#,
            added(1),
            added(2),
            added(3),
            entries.join(", ")
        );
        folder.write("tokenizer.json", json.as_bytes());
        folder
    }

    pub(crate) fn name(&self) -> &str {
        self.path.to_str().expect("the path of the target folder is UTF-8")
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.path.join(name).to_str().expect("the path of the target folder is UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path.join(name), bytes).expect("the target folder is writable");
    }

    /// Replaces `from` by `to` in `config.json`. Fails if `from` does not occur.
    pub(crate) fn edit_config(&self, from: &str, to: &str) {
        let json = fs::read_to_string(self.path.join("config.json")).expect("synth wrote it");
        assert!(json.contains(from), "no {from} in {json}");
        self.write("config.json", json.replace(from, to).as_bytes());
    }

    /// Changes the bytes of `model.safetensors`.
    pub(crate) fn edit_weights(&self, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.path.join("model.safetensors")).expect("synth wrote it");
        edit(&mut bytes);
        self.write("model.safetensors", &bytes);
    }

    /// Replaces `from` by `to`, a text of the same length, in the header of `model.safetensors`.
    pub(crate) fn edit_header(&self, from: &str, to: &str) {
        assert_eq!(from.len(), to.len(), "the header's length stays");
        self.edit_weights(|bytes| {
            let at = bytes
                .windows(from.len())
                .position(|w| w == from.as_bytes())
                .unwrap_or_else(|| panic!("no {from} in the header"));
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        });
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
