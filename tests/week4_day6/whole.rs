//! Week 4, day 6: all four tasks together, in models with random weights, against transformers'
//! logits: `python-ref/oracle/week4_day6_models.py`.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::Result;
use tiny_llm::{
    week2::{cache::CacheType, gguf::Gguf},
    week4::mixture::{
        cache::PAGE,
        load::{load_folder, load_gguf},
        model::MixtureModel,
        session::MixtureSession,
    },
};
use tiny_llm_formats::{bytes::Bytes, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_answer, resting_on},
    fixtures::{Case, Fixtures},
    messages::{assert_good, assert_refused},
};

use super::{GROUPS, ROUTES, SINKS, WINDOWS, plan};

const ALL: &[&tiny_llm_harness::check::Part] = &[ROUTES, GROUPS, SINKS, WINDOWS];

/// A temporary folder that is deleted when this value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("tiny-llm-mixture-{}-{number}", process::id()));
        fs::create_dir_all(&path).expect("room for a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn model(case: &Case, folder: &Path) -> Result<MixtureModel> {
    let packed = case.integers("file");
    let mut bytes: Vec<u8> =
        packed.iter().flat_map(|&n| (n as u64).to_le_bytes().into_iter().take(7)).collect();
    bytes.truncate(case.count("bytes"));
    if case.name().ends_with("gguf") {
        return load_gguf(&Gguf::parse(Bytes::from(bytes), case.name())?, 1 << 20);
    }
    fs::write(folder.join("model.safetensors"), bytes)?;
    fs::write(folder.join("config.json"), case.value("config").as_str().expect("a text"))?;
    load_folder(folder, 1 << 20)
}

/// Checks a model's logits for the case's tokens, which are fed in chunks of several sizes.
fn check(name: &str) {
    resting_on(ALL, || {
        let (fixtures, folder) = (Fixtures::open("week4_day6_models"), Folder::new());
        let case = fixtures.case(&format!("whole/{name}"));
        let model = Arc::new(assert_good(case.name(), || model(&case, &folder.0)));
        let tokens: Vec<u32> = case.integers("tokens").iter().map(|&token| token as u32).collect();
        for chunk in [1, 7, 128] {
            let (model, plan) = (Arc::clone(&model), Arc::new(plan()));
            let mut session = MixtureSession::new(model, plan, chunk, CacheType::F32);
            let shown = 16;
            let mut found = Vec::new();
            for end in tokens.len() - shown..tokens.len() {
                let logits = session.logits_after(&tokens[..=end], |_| {});
                found.extend_from_slice(logits.expect("logits_after must accept these tokens"));
            }
            case.check("logits", &tensor(&[shown, found.len() / shown], found));
        }
    });
}

#[test]
fn task_4_qwen3_moe_from_folder_matches_transformers() {
    check("qwen3_moe/folder");
}

#[test]
fn task_4_qwen3_moe_from_gguf_matches_transformers() {
    check("qwen3_moe/gguf");
}

#[test]
fn task_4_gpt_oss_from_folder_matches_transformers() {
    check("gpt_oss/folder");
}

#[test]
fn task_4_gpt_oss_from_gguf_matches_transformers() {
    check("gpt_oss/gguf");
}

/// A decoded token reads only its own experts. Only pages that a window needs are in use.
#[test]
fn task_4_token_reads_only_its_experts_and_window_pages() {
    resting_on(ALL, || {
        let (fixtures, folder) = (Fixtures::open("week4_day6_models"), Folder::new());
        let case = fixtures.case("whole/gpt_oss/gguf");
        let model = Arc::new(assert_good(case.name(), || model(&case, &folder.0)));
        let tokens: Vec<u32> = case.integers("tokens").iter().map(|&token| token as u32).collect();
        let one: usize =
            model.layers[0].stacked().map(|matrix| matrix.bytes().len()).sum::<usize>()
                / model.config.experts;
        let (layers, per_token) = (model.layers.len(), model.config.per_token);
        let mut session = MixtureSession::new(model, Arc::new(plan()), 1, CacheType::F32);
        for end in 0..tokens.len() {
            let told = |seen: &tiny_llm::week4::mixture::model::Seen| {
                assert_answer(
                    "bytes of experts that a token reads",
                    &seen.expert_bytes,
                    &(layers * per_token * one),
                );
            };
            assert_good("logits_after of one more token", || {
                session.logits_after(&tokens[..=end], told).map(|_| ())
            });
        }
        // 100 positions are in four pages of 32. A window of 24 sees positions 77 to 99, in two
        // pages.
        assert_answer("positions of a page", &PAGE, &32);
        assert_answer(
            "pages in use by a full layer and by one with a window",
            &session.cache().pages_in_use(),
            &(4 + 2),
        );
    });
}

/// Unsupported models are rejected with an error that names the field.
#[test]
fn task_4_load_folder_rejects_unsupported_models() {
    let fixtures = Fixtures::open("week4_day6_models");
    for (name, from, to, parts) in [
        (
            "qwen3_moe",
            "\"decoder_sparse_step\": 1",
            "\"decoder_sparse_step\": 2",
            &["decoder_sparse_step", "found 2"][..],
        ),
        ("qwen3_moe", "\"mlp_only_layers\": []", "\"mlp_only_layers\": [0]", &["mlp_only_layers"]),
        (
            "qwen3_moe",
            "\"num_experts_per_tok\": 2",
            "\"num_experts_per_tok\": 5",
            &["num_experts_per_tok", "at most 4"],
        ),
        ("qwen3_moe", "\"qwen3_moe\"", "\"mixtral\"", &["model_type", "mixtral"]),
        (
            "qwen3_moe",
            "\"num_local_experts\": 4",
            "\"num_local_experts\": 5",
            &["mlp.gate.weight", "found shape [4, 32]", "expected [5, 32]"],
        ),
        ("gpt_oss", "\"yarn\"", "\"longrope\"", &["rope_type", "longrope", "yarn"]),
        ("gpt_oss", "\"mxfp4\"", "\"fp8\"", &["quant_method", "fp8", "mxfp4"]),
        ("gpt_oss", "\"full_attention\"", "\"chunked_attention\"", &["layer_types"]),
        (
            "gpt_oss",
            "\"hidden_act\": \"silu\"",
            "\"hidden_act\": \"gelu\"",
            &["hidden_act", "gelu"],
        ),
    ] {
        let folder = Folder::new();
        let case = fixtures.case(&format!("whole/{name}/folder"));
        // The unchanged model is accepted and computes a token.
        let good = Arc::new(assert_good(name, || model(&case, &folder.0)));
        let mut session = MixtureSession::new(good, Arc::new(plan()), 1, CacheType::F32);
        assert_good(name, || session.logits_after(&[1], |_| {}).map(|_| ()));
        let config = case.value("config").as_str().expect("a text");
        assert!(config.contains(from), "{name}: {from} is not in {config}");
        fs::write(folder.0.join("config.json"), config.replacen(from, to, 1)).expect("written");
        assert_refused(&format!("{name}: {to}"), parts, || load_folder(&folder.0, 64));
    }
}
