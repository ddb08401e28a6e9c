//! `quantize`: from folders and files, and what it rejects.

use std::{ops::ControlFlow, path::Path};

use tiny_llm::{
    week1::weights::to_f32,
    week2::{gguf::Gguf, parallel::Team, quantize::Source, target::Target},
};
use tiny_llm_formats::{
    Tensor,
    checkpoint::Checkpoint,
    gguf::{TensorType, Value},
};

use crate::{
    folder::{Folder, STORY, VOCABULARY},
    process::{self, run},
};

fn logits(model: &str) -> Tensor {
    let out = Folder::empty();
    let file = out.file("model.safetensors");
    process::logits(model, "3,50,0,3,7,9,11", &file).succeeds("logits");
    to_f32(&Checkpoint::open(&out.path).unwrap().tensor("logits", &[7, VOCABULARY]).unwrap())
        .unwrap()
}

/// The model has 6 query heads and 2 key heads. The GGUF file has their rows in another order, for
/// RoPE. Week 1 computes the logits from the folder, week 2 from the file.
#[test]
fn a_llama_folder_and_its_file_give_the_same_logits() {
    let (folder, synthetic) = (Folder::model(), Folder::empty());
    run(&["synth", "--like", "tiny", "--type", "f32", "--out", &synthetic.file("keys.gguf")])
        .succeeds("synth");
    // The folder has no tokenizer, so the metadata of a file with the same shape is used.
    let metadata = Gguf::open(synthetic.file("keys.gguf").as_ref()).unwrap().metadata;
    let out = synthetic.file("model.gguf");
    let source = Source::folder(&folder.path, metadata).unwrap();
    source
        .write(out.as_ref(), Target::All(TensorType::F32), &|_| None, &Team::new(2), &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    let (expected, found) = (logits(folder.name()), logits(&out));
    let largest = expected.iter().fold(0f32, |m, x| m.max(x.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-3 * largest, "found {found}, expected {expected}");
    }
}

#[test]
fn quantizes_a_folder_and_then_the_file() {
    let folder = Folder::empty();
    let (whole, small) = (folder.file("whole.gguf"), folder.file("small.gguf"));
    let said = run(&["quantize", STORY, &whole, "--type", "f16"]).succeeds("f16");
    assert!(
        said.stdout.contains("16.01 bits per weight; 21 F32, 36 F16") && said.stderr.is_empty(),
        "{}{}",
        said.stdout,
        said.stderr
    );
    let patterns = [
        "--tensor",
        "blk.[0-3].ffn_.*=q6_k",
        "--tensor",
        "blk.0.ffn_up.weight=q4_0",
        "--tensor",
        "attn_q.weight=f32",
    ];
    run(&[&["quantize", &whole, &small, "--type", "Q8_0", "-j", "2"][..], &patterns].concat())
        .succeeds("q8_0");
    let (before, after) =
        (Gguf::open(whole.as_ref()).unwrap(), Gguf::open(small.as_ref()).unwrap());
    for (key, value) in before.metadata.iter() {
        let expected = if key == "general.file_type" { &Value::U32(7) } else { value };
        assert_eq!(after.metadata.get(key), Some(expected), "{key}");
    }
    assert_eq!(before.metadata.iter().count(), after.metadata.iter().count());
    assert_eq!(after.metadata.get("general.quantization_version"), Some(&Value::U32(2)));
    for (old, new) in before.tensors.iter().zip(&after.tensors) {
        assert_eq!((&old.name, &old.shape), (&new.name, &new.shape));
        // A pattern must match the whole name, so the one for attn_q.weight matches none. The first
        // match decides.
        let expected = match new.name.as_str() {
            _ if new.shape.len() == 1 => TensorType::F32,
            name if name.contains("ffn_") && !name.starts_with("blk.4") => TensorType::Q6_K,
            _ => TensorType::Q8_0,
        };
        assert_eq!(new.tensor_type, expected, "{}", new.name);
    }
    let refused = run(&["quantize", &whole, &small, "--type", "q8_0"]);
    refused.fails_in_one_line("a file that is there", 1, &[&small, "--force"]);
    // A file may replace itself. It is read until the new file takes its place.
    run(&["quantize", &small, &small, "--type", "q8_0", "--force"]).succeeds("onto itself");
    assert!(Gguf::open(small.as_ref()).is_ok());
    assert_eq!(std::fs::read_dir(&folder.path).unwrap().count(), 2, "nothing unfinished is left");
}

#[test]
fn errors_are_one_line_and_write_nothing() {
    let folder = Folder::empty();
    let out = folder.file("out.gguf");
    let quantize = |more: &[&str]| run(&[&["quantize", STORY, &out][..], more].concat());
    quantize(&[]).fails_in_one_line("no type", 2, &["--type"]);
    let refused = quantize(&["--type", "q9"]);
    refused.fails_in_one_line("no such type", 2, &["--type", "\"q9\"", "q4_k_m"]);
    let refused = quantize(&["--type", "q8_0", "--tensor", "ffn"]);
    refused.fails_in_one_line("no =", 2, &["'ffn'", "--tensor", "PATTERN"]);
    let refused = quantize(&["--type", "q8_0", "--tensor", "ffn=q9_k"]);
    refused.fails_in_one_line("bad type", 2, &["--tensor", "\"q9_k\"", "Q4_K"]);
    let refused = quantize(&["--type", "q8_0", "--tensor", "ff[n=q6_k"]);
    refused.fails_in_one_line("bad pattern", 2, &["--tensor", "regular expression"]);
    quantize(&["--type", "q8_0", "-j", "0"]).fails_in_one_line("no threads", 2, &["'0'"]);
    let refused = run(&["quantize", "nowhere", &out, "--type", "q8_0"]);
    refused.fails_in_one_line("no input", 1, &["nowhere", "no such file or folder"]);
    let to_a_folder = run(&["quantize", STORY, folder.name(), "--type", "q8_0", "--force"]);
    to_a_folder.fails_in_one_line("a folder", 1, &[folder.name(), "name of a file"]);
    let nowhere = folder.file("none/out.gguf");
    let refused = run(&["quantize", STORY, &nowhere, "--type", "f16"]);
    refused.fails_in_one_line("no such folder", 1, &[&nowhere, "cannot be written"]);
    folder.write("bad.gguf", b"GGUF\x03\x00\x00\x00");
    let refused = run(&["quantize", &folder.file("bad.gguf"), &out, "--type", "f16"]);
    refused.fails_in_one_line("cut off", 1, &["bad.gguf", "number of tensors"]);
    assert!(!Path::new(&out).exists());
}

/// Rows of 20 and 28 weights are shorter than a block, and a NaN cannot be quantized.
#[test]
fn weights_that_do_not_fit_are_refused() {
    let folder = Folder::empty();
    let (whole, out) = (folder.file("whole.gguf"), folder.file("out.gguf"));
    run(&["synth", "--like", "tiny", "--type", "f32", "--out", &whole]).succeeds("synth");
    let refused = run(&["quantize", &whole, &out, "--type", "f16", "--tensor", ".*ffn_up.*=q8_0"]);
    let words = ["blk.0.ffn_up.weight", "rows of 20", "blocks of 32"];
    refused.fails_in_one_line("rows of 20", 1, &words);
    let gguf = Gguf::open(whole.as_ref()).unwrap();
    let info = gguf.required("blk.1.ffn_down.weight").unwrap();
    let at = gguf.data_start + info.offset + 4 * (2 * 28 + 5);
    let mut bytes = std::fs::read(&whole).unwrap();
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    folder.write("nan.gguf", &bytes);
    let refused = run(&["quantize", &folder.file("nan.gguf"), &out, "--type", "f16"]);
    let words = ["nan.gguf: tensor", "blk.1.ffn_down.weight", "NaN", "row 2"];
    refused.fails_in_one_line("NaN", 1, &words);
    assert_eq!(std::fs::read_dir(&folder.path).unwrap().count(), 2, "nothing unfinished is left");
}
