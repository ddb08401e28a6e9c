//! Converts `tokenizer.json` to the keys `tokenizer.ggml.*`.

mod pre_tokenizer;

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use anyhow::{Result, bail, ensure};
use serde_json::Value as Json;

use super::{
    super::{
        Array, LOWERCASE, Metadata, NORMALIZES, SPACE_PREFIX, Value, WHOLE_WORDS,
        token_type::{BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED},
    },
    tokenizer_config,
};
use crate::{
    config::ModelConfig,
    json::{read_json, shortened},
};

/// Maximum number of rows of an embedding that belong to no token. Such rows pad the vocabulary to
/// a round size.
const MAX_PADDING: usize = 1 << 16;

/// Adds the keys `tokenizer.ggml.*` to `metadata`, from a model folder.
pub(super) fn insert(metadata: &mut Metadata, config: &ModelConfig, folder: &Path) -> Result<()> {
    let path = folder.join("tokenizer.json");
    let file = TokenizerFile { json: read_json(&path)?, name: path.display().to_string() };
    let vocabulary = file.vocabulary(config.vocab_size, "the vocabulary's size in config.json")?;
    let (settings, _) = tokenizer_config(folder)?;
    file.insert(metadata, &vocabulary, &settings, config.bos_token_id, &config.eos_token_ids)
}

/// Returns the keys `tokenizer.ggml.*` for the text of a `tokenizer.json`. Reads no file. `name` is
/// the file's name in error messages.
///
/// # Errors
/// If the text is not JSON, or the tokenizer is of a kind that these keys cannot describe.
#[cfg(feature = "vocabulary")]
pub(crate) fn tokenizer_keys(json: &str, name: &str) -> Result<Metadata> {
    let file = TokenizerFile { json: crate::json::parse(json, name)?, name: name.to_owned() };
    let mut metadata = Metadata::new(name);
    let vocabulary = file.vocabulary(file.size(), "the largest token id plus 1")?;
    file.insert(&mut metadata, &vocabulary, &Json::Null, None, &[])?;
    Ok(metadata)
}

/// The contents of a `tokenizer.json`.
struct TokenizerFile {
    json: Json,
    name: String,
}

/// The tokens of a model by their ids. In a model folder, there are as many ids as the embedding
/// has rows.
struct Vocabulary {
    /// The token of each id, or `None` if the file has no token with that id.
    tokens: Vec<Option<String>>,
    ids: HashMap<String, u32>,
    /// For each added token, by its id, whether the token is special.
    added: BTreeMap<u32, bool>,
    unknown: Option<u32>,
}

impl TokenizerFile {
    fn wrong<T>(&self, field: &str, expected: &str) -> Result<T> {
        let pointer = format!("/{}", field.replace('.', "/"));
        let found = self.json.pointer(&pointer).map_or("nothing".to_owned(), Json::to_string);
        let found = shortened(found, 200);
        bail!("{}: field \"{field}\": found {found}, expected {expected}", self.name)
    }

    /// Returns the steps in a field, which holds one step or a sequence of steps named `list`.
    fn steps(&self, field: &str, list: &str) -> Vec<&Json> {
        match &self.json[field] {
            Json::Null => Vec::new(),
            one => one[list].as_array().map_or_else(|| vec![one], |steps| steps.iter().collect()),
        }
    }

    /// Adds all keys of the tokenizer. `settings` is `tokenizer_config.json`, or null. `bos` and
    /// `ends` are the tokens that begin and end a text, from the model's configuration.
    fn insert(
        &self,
        metadata: &mut Metadata,
        vocabulary: &Vocabulary,
        settings: &Json,
        bos: Option<u32>,
        ends: &[u32],
    ) -> Result<()> {
        let byte_level =
            self.steps("decoder", "decoders").iter().any(|step| step["type"] == "ByteLevel");
        let mut keys = vec![
            ("model", Value::String(if byte_level { "gpt2" } else { "llama" }.to_owned())),
            ("tokens", Value::Array(Array::String(vocabulary.texts(byte_level)))),
            ("token_type", Value::Array(Array::I32(vocabulary.types(byte_level)))),
        ];
        if byte_level {
            let pre = self.pre_tokenizer()?;
            let merges = self.merges()?;
            let merges = merges.iter().map(|(left, right)| format!("{left} {right}")).collect();
            keys.extend([
                ("pre", Value::String(pre.to_owned())),
                ("merges", Value::Array(Array::String(merges))),
            ]);
            let (nfc, lowercase) = self.normalizes()?;
            for (key, said, usual) in [
                (NORMALIZES, nfc, pre == "qwen2"),
                (LOWERCASE, lowercase, false),
                (WHOLE_WORDS, self.whole_words(), pre == "llama-bpe"),
            ] {
                if said != usual {
                    metadata.insert(key, Value::Bool(said));
                }
            }
        } else {
            let prefix = self.space_prefix()?;
            keys.extend([
                ("pre", Value::String("default".to_owned())),
                ("scores", Value::Array(Array::F32(self.scores(vocabulary)?))),
                ("add_space_prefix", Value::Bool(prefix != "never")),
            ]);
            if prefix.starts_with("metaspace") {
                metadata.insert(SPACE_PREFIX, Value::String(prefix.to_owned()));
            }
        }
        keys.extend(self.special_tokens(vocabulary, settings, bos, ends)?);
        for (key, value) in keys {
            metadata.insert(&format!("tokenizer.ggml.{key}"), value);
        }
        Ok(())
    }

    /// Returns the number of ids, which is one more than the largest id.
    #[cfg(feature = "vocabulary")]
    fn size(&self) -> usize {
        let added = self.json["added_tokens"].as_array().into_iter().flatten();
        let vocab = self.json["model"]["vocab"].as_object().into_iter().flatten();
        let ids = vocab.map(|(_, id)| id).chain(added.map(|token| &token["id"]));
        let largest = ids.filter_map(Json::as_u64).max();
        largest.map_or(0, |id| usize::try_from(id).unwrap_or(usize::MAX).saturating_add(1))
    }

    /// Returns the tokens of all ids below `size`. `what` describes `size` in error messages.
    fn vocabulary(&self, size: usize, what: &str) -> Result<Vocabulary> {
        let model = &self.json["model"];
        if model["type"].as_str().is_some_and(|kind| kind != "BPE") {
            return self.wrong("model.type", "\"BPE\"");
        }
        let Some(vocab) = model["vocab"].as_object() else {
            return self.wrong("model.vocab", "tokens with their ids");
        };
        for part in ["continuing_subword_prefix", "end_of_word_suffix"] {
            if model[part].as_str().is_some_and(|text| !text.is_empty()) {
                return self.wrong(&format!("model.{part}"), "null");
            }
        }
        let added = self.json["added_tokens"].as_array().map_or(&[][..], Vec::as_slice);
        ensure!(
            size <= vocab.len() + added.len() + MAX_PADDING,
            "{}: found {} tokens, expected about {size} ({what})",
            self.name,
            vocab.len() + added.len()
        );
        let mut all = Vocabulary {
            tokens: vec![None; size],
            ids: HashMap::new(),
            added: BTreeMap::new(),
            unknown: None,
        };
        let mut insert = |token: &str, id: &Json| -> Result<u32> {
            let place = id.as_u64().and_then(|id| all.tokens.get_mut(usize::try_from(id).ok()?));
            let Some(place) = place else {
                bail!(
                    "{}: token {token:?}: found id {id}, expected an id below {size} ({what})",
                    self.name
                )
            };
            if place.as_ref().is_some_and(|other| other != token) {
                bail!(
                    "{}: id {id}: found two tokens, {:?} and {token:?}, expected one",
                    self.name,
                    place.as_ref().expect("some")
                );
            }
            *place = Some(token.to_owned());
            let id = id.as_u64().expect("it has a place") as u32;
            all.ids.insert(token.to_owned(), id);
            Ok(id)
        };
        for (token, id) in vocab {
            insert(token, id)?;
        }
        let normalizer = self.json["normalizer"]["type"].as_str().unwrap_or_default();
        let mut special = BTreeMap::new();
        for (i, token) in added.iter().enumerate() {
            let Some(content) = token["content"].as_str() else {
                return self.wrong(
                    &format!("added_tokens.{i}"),
                    "an object whose field \"content\" is a string",
                );
            };
            if ["lstrip", "rstrip", "single_word"].iter().any(|flag| token[flag] == true) {
                return self.wrong(
                    &format!("added_tokens.{i}"),
                    "a token without lstrip, rstrip and single_word: GGUF cannot express them",
                );
            }
            // This token is searched for in normalised text, so the normalizer must not change its
            // spelling.
            let changed = match normalizer {
                "NFC" => !content.is_ascii(),
                "Lowercase" => content.to_lowercase() != content,
                _ => true,
            };
            if token["normalized"] == true && !self.json["normalizer"].is_null() && changed {
                return self.wrong(
                    &format!("added_tokens.{i}"),
                    "\"normalized\": false, or a token that the normalizer does not change",
                );
            }
            special.insert(insert(content, &token["id"])?, token["special"] == true);
        }
        all.added = special;
        all.unknown = model["unk_token"].as_str().and_then(|token| all.ids.get(token).copied());
        Ok(all)
    }

    fn merges(&self) -> Result<Vec<(&str, &str)>> {
        let Some(merges) = self.json["model"]["merges"].as_array() else {
            return self.wrong("model.merges", "a list of pairs");
        };
        merges
            .iter()
            .enumerate()
            .map(|(i, merge)| {
                let pair = match merge {
                    Json::String(text) => text.split_once(' '),
                    _ => merge[0].as_str().zip(merge[1].as_str()),
                };
                match pair.filter(|(left, right)| !left.contains(' ') && !right.contains(' ')) {
                    Some(pair) => Ok(pair),
                    None => self.wrong(&format!("model.merges.{i}"), "two tokens without spaces"),
                }
            })
            .collect()
    }

    /// Returns a score for each token: the later a merge produces a token, the lower its score.
    /// SentencePiece merges by score, but `tokenizer.json` has a list of merges.
    fn scores(&self, vocabulary: &Vocabulary) -> Result<Vec<f32>> {
        if self.json["model"]["byte_fallback"] != true {
            return self.wrong("model.byte_fallback", "true, or a byte-level decoder");
        }
        // Added tokens are found in a text before anything is merged. Some files list merges that
        // produce added tokens, and others do not.
        let merged = |part: &str| {
            vocabulary.ids.get(part).is_some_and(|id| !vocabulary.added.contains_key(id))
        };
        let mut ways: HashMap<u32, (usize, usize)> = HashMap::new();
        let mut last = None;
        for (i, (left, right)) in self.merges()?.into_iter().enumerate() {
            let Some(&id) = vocabulary.ids.get(&format!("{left}{right}")) else {
                return self.wrong(
                    &format!("model.merges.{i}"),
                    "two tokens whose concatenation is a token",
                );
            };
            let rank = ways.len();
            let known = ways.contains_key(&id);
            ways.entry(id).or_insert((rank, 0)).1 += usize::from(merged(left) && merged(right));
            if known && last != Some(id) {
                return self.wrong(
                    &format!("model.merges.{i}"),
                    "all merges that produce the same token to be consecutive, as in SentencePiece",
                );
            }
            last = Some(id);
        }
        // SentencePiece has only scores: it may merge any two tokens that together spell a token.
        for (token, id) in &vocabulary.ids {
            let inner = token.char_indices().map(|(at, _)| at).skip(1);
            let possible = inner.filter(|&at| merged(&token[..at]) && merged(&token[at..])).count();
            let listed = ways.get(id).map_or(0, |way| way.1);
            ensure!(
                listed == possible || vocabulary.added.contains_key(id) || byte(token).is_some(),
                "{}: field \"model.merges\": merges that produce {token:?}: found {listed}, \
                 expected {possible}, one for each split into two tokens",
                self.name
            );
        }
        let score = |id: u32| match ways.get(&id) {
            Some((rank, _)) => -(*rank as f32),
            None if vocabulary.type_of(id, false) == NORMAL => -(ways.len() as f32),
            None => 0.0,
        };
        Ok((0..vocabulary.tokens.len() as u32).map(score).collect())
    }

    /// Returns the keys of the special tokens: the tokens that begin and end texts, the unknown
    /// token and the padding token. Also returns the keys that say whether the tokens that begin
    /// and end texts are added to every text.
    fn special_tokens(
        &self,
        vocabulary: &Vocabulary,
        settings: &Json,
        bos: Option<u32>,
        ends: &[u32],
    ) -> Result<Vec<(&'static str, Value)>> {
        let named = |field: &str| {
            let value = &settings[field];
            value
                .as_str()
                .or(value["content"].as_str())
                .and_then(|token| vocabulary.ids.get(token).copied())
        };
        let mut found = Vec::new();

        let mut bos = named("bos_token").or(bos);
        let processors = self.steps("post_processor", "processors");
        let known =
            |step: &&Json| step["type"] == "TemplateProcessing" || step["type"] == "ByteLevel";
        let template = processors.iter().find(|step| step["type"] == "TemplateProcessing");
        let special =
            |at: usize| template.and_then(|step| step["single"][at]["SpecialToken"]["id"].as_str());
        let first = special(0);
        if !processors.iter().all(known) || first.is_some() && special(1).is_some() {
            return self.wrong("post_processor", "a template with at most one token before a text");
        }
        if let Some(token) = first {
            let id = vocabulary.ids.get(token).copied();
            bos = bos.or(id);
            ensure!(
                id.is_some() && bos == id,
                "{}: field \"post_processor\": found {token:?} before every text, expected the \
                 bos_token",
                self.name
            );
        }
        found.extend(bos.map(|id| ("bos_token_id", Value::U32(id))));
        found.push(("add_bos_token", Value::Bool(first.is_some())));

        // GGUF has three names for tokens that end something: a text, a turn, or a message.
        let first = named("eos_token");
        let others = ends.iter().copied().filter(|id| first != Some(*id));
        let ends: Vec<u32> = first.into_iter().chain(others).collect();
        ensure!(
            ends.len() <= 3,
            "generation_config.json: field \"eos_token_id\": found {} ids, expected at most three",
            ends.len()
        );
        found.extend(
            ["eos_token_id", "eot_token_id", "eom_token_id"]
                .into_iter()
                .zip(ends.into_iter().map(Value::U32)),
        );

        found.extend(
            vocabulary
                .unknown
                .or_else(|| named("unk_token"))
                .map(|id| ("unknown_token_id", Value::U32(id))),
        );
        found.extend(named("pad_token").map(|id| ("padding_token_id", Value::U32(id))));
        if let Some(add) = settings["add_eos_token"].as_bool() {
            found.push(("add_eos_token", Value::Bool(add)));
        }
        Ok(found)
    }
}

impl Vocabulary {
    fn texts(&self, byte_level: bool) -> Vec<String> {
        let text = |(id, token): (usize, &Option<String>)| match token {
            None => format!("[PAD{id}]"),
            // Added tokens are found in the original text, before a space becomes `▁`.
            Some(token) if !byte_level && self.type_of(id as u32, false) == USER_DEFINED => {
                token.replace('▁', " ")
            }
            Some(token) => token.clone(),
        };
        self.tokens.iter().enumerate().map(text).collect()
    }

    fn types(&self, byte_level: bool) -> Vec<i32> {
        (0..self.tokens.len() as u32).map(|id| self.type_of(id, byte_level)).collect()
    }

    fn type_of(&self, id: u32, byte_level: bool) -> i32 {
        let Some(token) = &self.tokens[id as usize] else { return UNUSED };
        match self.added.get(&id) {
            _ if !byte_level && self.unknown == Some(id) => UNKNOWN,
            // Some files do not mark these tokens as special.
            Some(special) if *special || (token.starts_with("<|") && token.ends_with("|>")) => {
                CONTROL
            }
            Some(_) => USER_DEFINED,
            None if !byte_level && byte(token).is_some() => BYTE,
            None => NORMAL,
        }
    }
}

/// Returns the byte of a token such as `<0x0A>`, which is byte 10.
fn byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}
