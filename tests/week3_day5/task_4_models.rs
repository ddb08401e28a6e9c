//! Week 3, day 5, task 4: a model continues from a file, and only from its own.

use std::sync::Arc;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        generate::Session,
        matrix::Matrix,
        model::Model,
    },
    week3::prompt_file::{PromptKey, decode, encode, fingerprint, open, save},
};
use tiny_llm_harness::{check, fixtures::random};

use super::{model, plan, prompt};

/// A model that continues from a file has the same bits as one that computed the prompt.
#[test]
fn task_4_model_continues_from_a_file() {
    let model = model("qwen3");
    let session = || Session::new(Arc::clone(&model), plan(), 64, CacheType::F16);
    let shape = session().cache().shape();
    let key = PromptKey::new(fingerprint(&model, "naive"), CacheType::F16, shape);
    let (text, longer) = (prompt(3, 40), [prompt(3, 40), prompt(4, 9)].concat());
    let mut first = session();
    first.feed(&text, 16).expect("feed must accept this text");
    let folder = std::env::temp_dir().join(format!("tiny-llm-week3-day5-{}", std::process::id()));
    // A run that failed leaves its folder, and process ids are reused.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("prompt.cache");
    assert!(
        open(&path, key, |_| ()).expect("open of a missing file must not be an error").is_none(),
        "open of a missing file must return None"
    );
    save(&path, &encode(first.cache(), 0, &text, key)).expect("save must succeed");
    for (why, text, common) in [("the same prompt", &text, 39), ("a longer one", &longer, 40)] {
        let mut alone = session();
        let expected = alone.feed(text, 16).expect("feed must accept this text").to_vec();
        let mut found = session();
        let n = open(&path, key, |prompt| {
            let n = prompt.in_common(text);
            found.restore(&text[..n], |cache| prompt.restore(cache, 0, n));
            n
        });
        let n =
            n.expect("open must accept a valid file").expect("open must return the saved prompt");
        let logits = found.feed(&text[n..], 16).expect("feed must accept this text").to_vec();
        check::assert_answer(&format!("{why}: positions in common"), &n, &common);
        check::assert_answer(
            &format!("{why}: positions restored plus positions computed\n "),
            &found.cache().computed(),
            &text.len(),
        );
        assert!(logits == expected, "{why}: the logits differ from those of a computed prompt");
    }
    // Other kernels, which need another fingerprint.
    let other = PromptKey { fingerprint: fingerprint(&model, "integer"), ..key };
    assert!(other != key, "other kernels must give another fingerprint");
    let error =
        open(&path, other, |_| ()).expect_err("open must refuse a file with another fingerprint");
    assert!(
        format!("{error:#}").contains("prompt.cache"),
        "the error must name the file, but it is: {error:#}"
    );
    let _ = std::fs::remove_dir_all(&folder);
}

/// A model with any changed weight has another fingerprint.
#[test]
fn task_4_fingerprint_changes_with_the_weights() {
    let one = fingerprint(&model("llama"), "");
    let shape = CacheShape::of(&model("llama").config, 1, 8);
    let cache = DenseCache::new(shape, CacheType::F16);
    let key = |fingerprint| PromptKey::new(fingerprint, CacheType::F16, shape);
    let file = encode(&cache, 0, &[], key(one));
    assert!(decode(&file, key(one)).is_ok(), "decode must accept a file of the same model");
    assert!(decode(&file, key(one ^ 1)).is_err(), "decode must refuse a file of another model");
    assert_eq!(one, fingerprint(&model("llama"), ""), "fingerprint of the same model, twice");
    assert_ne!(one, fingerprint(&model("qwen3"), ""), "fingerprints of two models must differ");
    let mut changed = Model::clone(&model("llama"));
    changed.layers[1].mlp_norm[3] += 1e-6;
    assert_ne!(one, fingerprint(&changed, ""), "a changed norm weight must change the fingerprint");
    let mut changed = Model::clone(&model("llama"));
    let old = &changed.layers[2].o_proj.weight;
    let (rows, cols) = (old.rows, old.cols);
    let numbers: Vec<f32> = random(1, &[rows, cols]).iter().copied().collect();
    changed.layers[2].o_proj.weight = Matrix::from_f32(rows, cols, &numbers);
    assert_ne!(one, fingerprint(&changed, ""), "a changed matrix must change the fingerprint");
}
