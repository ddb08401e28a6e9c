//! Loading a model folder with mutated files returns a value or a one-line error. It never panics.

use std::{fs, path::Path};

use proptest::prelude::*;
use safetensors::{Dtype, tensor::TensorView};
use tempfile::TempDir;
use tiny_llm_formats::{checkpoint::Checkpoint, config::ModelConfig};

const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2,
"head_dim": 16, "intermediate_size": 10, "vocab_size": 50, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "hidden_act": "silu",
"rope_theta": 10000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
"original_max_position_embeddings": 32}, "tie_word_embeddings": true, "eos_token_id": [1, 2], "layer_types": ["full_attention"]}"#;

/// One change to a file.
#[derive(Debug, Clone)]
enum Mutation {
    Set(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Truncate(prop::sample::Index),
    /// Replaces a JSON token with another. The result is more often well-formed than after the
    /// other changes, so more checks of values are reached.
    Replace(prop::sample::Index, &'static str),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    const TOKENS: [&str; 14] = [
        "0",
        "-1",
        "18446744073709551615",
        "9223372036854775807",
        "1e400",
        "0.5",
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
        "[0,1]",
        "\"F64\"",
        "\"../x.safetensors\"",
    ];
    prop_oneof![
        2 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        1 => (any::<prop::sample::Index>(), 1usize..20).prop_map(|(at, n)| Mutation::Remove(at, n)),
        1 => (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        1 => any::<prop::sample::Index>().prop_map(Mutation::Truncate),
        4 => (any::<prop::sample::Index>(), prop::sample::select(&TOKENS[..])).prop_map(|(at, token)| Mutation::Replace(at, token)),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    if bytes.is_empty() {
        return;
    }
    match mutation {
        Mutation::Set(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Mutation::Remove(at, n) => {
            let at = at.index(bytes.len());
            bytes.drain(at..(at + n).min(bytes.len()));
        }
        Mutation::Insert(at, new) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, new.iter().copied());
        }
        Mutation::Truncate(at) => bytes.truncate(at.index(bytes.len())),
        Mutation::Replace(at, token) => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b'[');
            let from = at.index(bytes.len());
            let Some(start) = bytes[from..]
                .iter()
                .position(|byte| matches!(byte, b':' | b'[' | b','))
                .map(|n| from + n + 1)
            else {
                return;
            };
            let end = bytes[start..].iter().position(ends).map_or(bytes.len(), |n| start + n);
            bytes.splice(start..end, token.bytes());
        }
    }
}

fn safetensors() -> Vec<u8> {
    let data = [0u8; 24];
    let tensor = |dtype, shape: &[usize], n: usize| {
        TensorView::new(dtype, shape.to_vec(), &data[..n]).expect("fits")
    };
    let tensors = [
        ("a", tensor(Dtype::F32, &[2, 3], 24)),
        ("b", tensor(Dtype::BF16, &[4], 8)),
        ("c", tensor(Dtype::F16, &[0], 0)),
    ];
    safetensors::serialize(tensors, None).expect("well-formed")
}

/// Corrects the header's length after a change to the header. Without this, most changes would only
/// test the check of the length.
fn mend_length(file: &mut [u8], old: &[u8]) {
    let header = u64::from_le_bytes(old[..8].try_into().expect("eight bytes")) as i64
        + file.len() as i64
        - old.len() as i64;
    if let Some(length) = file.first_chunk_mut::<8>() {
        *length = (header.max(0) as u64).to_le_bytes();
    }
}

fn one_line<T>(result: anyhow::Result<T>) {
    if let Err(error) = result {
        let message = error.to_string();
        assert!(!message.is_empty() && !message.contains('\n'), "not one line: {message:?}");
    }
}

fn open(folder: &Path) {
    let checkpoint = match Checkpoint::open(folder) {
        Ok(checkpoint) => checkpoint,
        error => return one_line(error),
    };
    for (name, shape) in [("a", &[2usize, 3][..]), ("b", &[4]), ("c", &[0]), ("d", &[])] {
        one_line(
            checkpoint
                .tensor(name, shape)
                .map(|tensor| tensor.bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>()),
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_config_never_panics(mutations in prop::collection::vec(mutation(), 1..4)) {
        let mut json = CONFIG.as_bytes().to_vec();
        mutations.iter().for_each(|m| mutate(&mut json, m));
        let config = ModelConfig::from_json(&String::from_utf8_lossy(&json), "config.json");
        if let Ok(config) = &config {
            // Accepted values are safe to compute with.
            let sizes = [config.vocab_size, config.hidden_size, config.intermediate_size, config.n_heads * config.head_dim];
            prop_assert!(sizes.iter().all(|a| sizes.iter().all(|b| a.checked_mul(*b).is_some())));
            prop_assert!(config.scale_frequencies(vec![1.0, 1e-6]).iter().all(|x| x.is_finite()));
        }
        one_line(config);
    }

    #[test]
    fn mutated_file_never_panics(mutations in prop::collection::vec(mutation(), 1..4), mend in any::<bool>()) {
        let old = safetensors();
        let mut file = old.clone();
        mutations.iter().for_each(|m| mutate(&mut file, m));
        if mend {
            mend_length(&mut file, &old);
        }
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("model.safetensors"), file).unwrap();
        open(folder.path());
    }

    #[test]
    fn mutated_index_never_panics(mutations in prop::collection::vec(mutation(), 1..4)) {
        let mut index = br#"{"metadata": {"total_size": 32}, "weight_map": {"a": "x.safetensors", "b": "x.safetensors", "c": "y.safetensors"}}"#.to_vec();
        mutations.iter().for_each(|m| mutate(&mut index, m));
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("x.safetensors"), safetensors()).unwrap();
        fs::write(folder.path().join("y.safetensors"), safetensors()).unwrap();
        fs::write(folder.path().join("model.safetensors.index.json"), index).unwrap();
        open(folder.path());
    }
}

/// Checks offsets without gaps that end at `u64::MAX`. No sum of them may overflow.
#[test]
fn rejects_offsets_up_to_the_largest_integer() {
    // The most bytes whose number of bits fits in a u64. Eight parts and 7 bytes are `u64::MAX`.
    let part = (1u64 << 61) - 1;
    let tensor = |i: u64, end: u64| {
        format!(
            r#""t{i}": {{"dtype": "U8", "shape": [{}], "data_offsets": [{}, {end}]}}"#,
            end - i * part,
            i * part
        )
    };
    let tensors: Vec<_> =
        (0..8).map(|i| tensor(i, (i + 1) * part)).chain([tensor(8, u64::MAX)]).collect();
    let header = format!("{{{}}}", tensors.join(", "));
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("model.safetensors"),
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat(),
    )
    .unwrap();
    let error = Checkpoint::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("tensor t0") && error.contains("truncated"), "{error}");
}
