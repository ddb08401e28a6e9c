//! NaN and infinity: rejected in weights, and in logits before they become text.

use std::{fs, path::Path};

use tiny_llm::week2::gguf::Gguf;
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::fixtures::Json;

use crate::{
    folder::{Folder, LLM, STORY},
    process::{run, run_with_input},
};

/// Edits the bytes of the tensor `tensor` in a GGUF file.
fn edit(file: &str, tensor: &str, edit: impl FnOnce(&mut [u8], TensorType)) {
    let gguf = Gguf::open(Path::new(file)).expect("synth wrote it");
    let info = gguf.tensor(tensor).unwrap_or_else(|| panic!("{tensor} in {file}"));
    let (start, size, tensor_type) = (gguf.data_start + info.offset, info.size, info.tensor_type);
    drop(gguf);
    let mut bytes = fs::read(file).expect("synth wrote it");
    edit(&mut bytes[start..start + size], tensor_type);
    fs::write(file, bytes).expect("the target folder is writable");
}

/// One scale or one weight of a tensor is NaN or infinite. Loading reports the tensor and the
/// position.
#[test]
fn weights_that_are_not_finite_are_refused() {
    let folder = Folder::empty();
    for (target, tensor, place) in [
        ("q8_0", "blk.1.attn_q.weight", "[1, 0]"),
        ("q4_0", "blk.1.attn_q.weight", "[1, 0]"),
        ("q4_k_m", "blk.1.attn_q.weight", "[1, 0]"),
        ("q6_k", "blk.0.ffn_down.weight", "[0, 256]"),
        ("f16", "token_embd.weight", "[0, 1]"),
        ("f32", "output_norm.weight", "[0, 1]"),
    ] {
        for infinite in [false, true] {
            let file = folder.file(&format!("{target}-{infinite}.gguf"));
            run(&["synth", "--like", "tiny-256", "--type", target, "--out", &file])
                .succeeds(target);
            edit(&file, tensor, |bytes, tensor_type| {
                let size = tensor_type.block_bytes();
                let block = if tensor_type.block_len() == 32 { 8 } else { 1 };
                let bytes = &mut bytes[block * size..][..size];
                let float = if infinite { f32::INFINITY } else { f32::NAN };
                let half: [u8; 2] = if infinite { [0x00, 0xfc] } else { [0x01, 0x7e] };
                match tensor_type {
                    TensorType::F32 => bytes.copy_from_slice(&float.to_le_bytes()),
                    TensorType::Q6_K => bytes[208..].copy_from_slice(&half),
                    _ => bytes[..2].copy_from_slice(&half),
                }
            });
            let bench = ["bench", "--model", &file, "--prompt-tokens", "3", "-n", "2"];
            let words = [file.as_str(), tensor, place, "NaN or infinity", "finite weights"];
            run(&bench).fails_in_one_line(target, 1, &words);
        }
    }
}

/// Returns a copy of an embedded model whose first norm has weights of 3·10³⁸.
fn poisoned(model: &str) -> Folder {
    let folder = Folder::empty();
    for entry in fs::read_dir(model).expect("the repository has it") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        folder.write(name, &fs::read(&path).expect("it can be read"));
    }
    folder.edit_weights(|bytes| {
        let header = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
        let json: Json =
            str::from_utf8(&bytes[8..8 + header]).expect("text").parse().expect("a header");
        let offsets = &json["model.layers.0.input_layernorm.weight"]["data_offsets"];
        let at = |i: usize| 8 + header + offsets[i].as_u64().expect("a number") as usize;
        // 3·10³⁸ in bf16.
        bytes[at(0)..at(1)].as_chunks_mut().0.fill([0x62u8, 0x7f]);
    });
    folder
}

const WORDS: [&str; 1] = ["NaN or infinite"];

/// The weights are finite, but their products overflow. Every command fails with one line.
#[test]
fn every_command_rejects_nan_logits() {
    let model = poisoned(STORY);
    let with = |args: &[&str]| {
        let [command, rest @ ..] = args else { panic!("a command") };
        run(&[&[*command, "--model", model.name()], rest].concat())
    };
    for args in [
        &["generate", "-p", "Once", "-n", "3", "--week", "1"][..],
        &["generate", "-p", "Once", "-n", "3", "--week", "1", "--temperature", "1"],
        &["generate", "-p", "Once", "-n", "3"],
        &["generate", "-p", "Once", "-n", "3", "--temperature", "1", "--top-k", "5"],
        &["generate", "-p", "Once", "-n", "3", "--no-cache"],
        &["generate", "-p", "Once", "-n", "3", "--draft", "lookup"],
        &["generate", "-p", "Once", "-n", "3", "--engine", "graph"],
        &["generate", "-p", "Once", "-n", "3", "--kernels", "integer"],
        &["logits", "--tokens", "5", "--out", &model.file("out.safetensors")],
        &["bench", "--prompt-tokens", "3", "-n", "2"],
        &["score", "--limit", "1"],
        &["perplexity", "--limit", "1"],
    ] {
        with(args).fails_in_one_line(&args.join(" "), 1, &WORDS);
    }
    assert!(!Path::new(&model.file("out.safetensors")).exists(), "no file of what is no number");
    let chat = run_with_input(&["chat", "--model", model.name(), "-q"], b"hey\n");
    chat.fails_in_one_line("chat", 1, &WORDS);
}

#[test]
fn a_batch_says_which_lines_failed() {
    let (model, files) = (poisoned(STORY), Folder::empty());
    let [requests, out] = ["requests.jsonl", "answers.jsonl"].map(|name| files.file(name));
    files.write("requests.jsonl", b"{\"prompt\": \"Once\"}");
    let batch = ["batch", &requests, "--model", model.name(), "--out", &out, "-q"];
    run(&batch).fails_in_one_line("batch", 1, &["requests.jsonl:1:", WORDS[0]]);
    let answer: Json = fs::read_to_string(&out).expect("answers").parse().expect("one line");
    assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(WORDS[0])));
}

#[test]
fn stream_rejects_nan_logits() {
    let model = poisoned(LLM);
    let file = model.file("tiny.stream");
    run(&["stream-pack", model.name(), &file]).succeeds("every weight is finite");
    let stream = run(&["stream", &file, "-p", "Once upon a time", "-n", "4"]);
    stream.fails_in_one_line("stream", 1, &["tiny.stream", "every logit is NaN"]);
}
