//! `--repack`: the same texts from repacked weights.

use crate::{
    folder::{Folder, STORY},
    process::run,
};

#[test]
fn repack_changes_no_text() {
    let files = Folder::empty();
    let prompt = "Once upon a time there was a girl named Lily.";
    for target in ["q8_0", "q4_0", "f16"] {
        let model = files.file(&format!("{target}.gguf"));
        run(&["quantize", STORY, &model, "--type", target]).succeeds("quantize");
        // With drafts, a pass has several rows.
        for more in [&[][..], &["--draft", "lookup"]] {
            let args = ["generate", "--model", &model, "-q", "-p", prompt, "-n", "30"];
            let plain = run(&[&args, more].concat()).succeeds("generate").stdout;
            let repacked = run(&[&args, more, &["--repack"]].concat()).succeeds("generate").stdout;
            assert_eq!(plain, repacked, "{target}, {more:?}");
        }
    }
    let model = files.file("q4_0.gguf");
    let bench = run(&["bench", "--model", &model, "--repack", "--prompt-tokens", "3", "-n", "2"]);
    let said = bench.succeeds("bench").stdout;
    assert!(said.contains("weights repacked ("), "{said}");
}
