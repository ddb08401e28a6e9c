//! Unusual inputs and outputs: devices, pipes and links as outputs, signals, full disks, unknown
//! tensors, infinite weights, and names of a megabyte.

use std::{fs, path::Path};

use crate::{
    folder::{Folder, STORY},
    process::run,
};

#[test]
fn rejects_zero_threads_and_more_than_1024() {
    for threads in ["0", "1025", "100000"] {
        let refused = run(&["bench", "--model", STORY, "--week", "2", "-j", threads]);
        refused.fails_in_one_line(threads, 2, &["--threads", "from 1 to 1024"]);
    }
}

#[test]
fn generate_of_no_tokens_reports_no_rate() {
    let said = run(&["generate", "-p", "Once", "-n", "0"]).succeeds("-n 0");
    assert!(said.stderr.contains("prefill  0 of 1 token computed\n"), "{}", said.stderr);
    assert!(!said.stderr.contains("tokens/s"), "{}", said.stderr);
}

#[test]
fn tensors_that_the_model_does_not_have_are_refused() {
    let folder = Folder::model();
    // The configuration has one layer fewer than the file.
    folder.edit_config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
    for week in ["1", "2"] {
        let out = folder.file("out.safetensors");
        let logits =
            ["logits", "--model", folder.name(), "--week", week, "--tokens", "3", "--out", &out];
        let words = ["model.safetensors", "tensor model.layers.1.", "1 layers", "doesn't have"];
        run(&logits).fails_in_one_line("a layer too many", 1, &words);
    }
}

#[test]
fn experts_are_refused() {
    let folder = Folder::model();
    folder.edit_config("\"hidden_act\"", "\"num_experts\": 8, \"hidden_act\"");
    let refused = run(&["bench", "--model", folder.name(), "-n", "1", "--prompt-tokens", "1"]);
    refused.fails_in_one_line("experts", 1, &["config.json", "\"num_experts\"", "found 8"]);
}

/// The error message stays short, even if it quotes a name of a megabyte.
#[test]
fn a_name_of_a_megabyte_does_not_fill_the_screen() {
    let folder = Folder::model();
    let long = "x".repeat(1 << 20);
    folder.edit_config("\"model_type\": \"llama\"", &format!("\"model_type\": \"{long}\""));
    let said = run(&["bench", "--model", folder.name()]);
    said.fails_in_one_line("a long type", 1, &["config.json"]);
    assert!(said.stderr.len() < 2000, "{} bytes", said.stderr.len());

    let folder = Folder::model();
    let header =
        format!("{{\"{long}\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}}}");
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend([0; 8]);
    folder.write("model.safetensors", &bytes);
    let said = run(&["bench", "--model", folder.name()]);
    said.fails_in_one_line("a long name", 1, &["model.safetensors", "do not fit F32 values"]);
    assert!(said.stderr.len() < 2000, "{} bytes", said.stderr.len());
}

#[cfg(unix)]
mod unix {
    use std::{os::unix::fs::FileTypeExt, process::Command, thread::sleep, time::Duration};

    use super::*;
    use crate::process::{command, finished};

    #[test]
    fn quantize_replaces_neither_a_device_nor_a_pipe() {
        let folder = Folder::empty();
        let pipe = folder.file("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let refused = run(&["quantize", STORY, &pipe, "--type", "q8_0", "--force"]);
        refused.fails_in_one_line("a pipe", 1, &[&pipe, "found a device or a pipe"]);
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "the pipe is still there");
        let refused = run(&["quantize", STORY, "/dev/null", "--type", "q8_0", "--force"]);
        refused.fails_in_one_line("a device", 1, &["/dev/null", "found a device or a pipe"]);
    }

    /// With `--force`, the link remains a link, and its target is replaced.
    #[test]
    fn quantize_follows_a_link() {
        let (folder, other) = (Folder::empty(), Folder::empty());
        let (link, real) = (folder.file("link.gguf"), other.file("real.gguf"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let quantize =
            |more: &[&str]| run(&[&["quantize", STORY, &link, "--type", "q8_0"], more].concat());
        quantize(&[]).fails_in_one_line("without --force", 1, &["link.gguf", "--force"]);
        quantize(&["--force"]).succeeds("through a link");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap()[..4], *b"GGUF");
        fs::remove_file(&real).unwrap();
        let refused = quantize(&["--force"]);
        refused.fails_in_one_line("to nothing", 1, &["link.gguf", "broken link"]);
    }

    /// The program receives the signal while it writes a file.
    #[test]
    fn a_signal_leaves_nothing_unfinished() {
        let folder = Folder::empty();
        let out = folder.file("out");
        for (args, signal) in [
            (vec!["quantize", STORY, &out, "--type", "q4_k_m", "--force"], "TERM"),
            (vec!["synth", "--like", "smollm2-360m", "--type", "f16", "--out", &out], "TERM"),
            (vec!["synth", "--like", "smollm2-360m", "--type", "f16", "--out", &out], "INT"),
        ] {
            let mut child = command(&args).spawn().unwrap();
            let pid = child.id().to_string();
            // Waits until it has begun to write, or has ended.
            for _ in 0..2000 {
                let begun = fs::read_dir(&folder.path).unwrap().count() > 0;
                if begun || child.try_wait().unwrap().is_some() {
                    break;
                }
                sleep(Duration::from_millis(2));
            }
            let _ = Command::new("kill").args(["-s", signal, &pid]).status();
            finished(child.wait_with_output().unwrap());
            let left: Vec<_> =
                fs::read_dir(&folder.path).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert!(left.iter().all(|name| name == "out"), "{signal}, {args:?}: left {left:?}");
            let _ = fs::remove_file(&out);
        }
    }

    #[test]
    fn a_full_disk_is_reported_with_the_file() {
        let folder = Folder::empty();
        let out = folder.file("out.gguf");
        // `ulimit` limits the size of files, which fails like a full disk.
        let limited = |arguments: &str| {
            let script = format!("trap '' XFSZ; ulimit -f 1024; exec {arguments}");
            finished(Command::new("sh").args(["-c", &script]).output().unwrap())
        };
        let program = env!("CARGO_BIN_EXE_tiny-llm");
        let said = limited(&format!("{program} quantize {STORY} {out} --type f16"));
        said.fails_in_one_line("quantize", 1, &["out.gguf: cannot be written"]);
        let said = limited(&format!("{program} synth --like smollm2-360m --out {out}"));
        assert!(said.stderr.contains("cannot be written"), "{}", said.stderr);
        assert!(said.stderr.contains(folder.name()), "{}", said.stderr);
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn a_folder_is_inspected() {
    let said = run(&["inspect", STORY]).succeeds("a folder");
    for words in ["family                  Qwen3", "model.embed_tokens.weight", "BF16", "all "] {
        assert!(said.stdout.contains(words), "expected {words:?} in\n{}", said.stdout);
    }
    run(&["inspect", "nowhere"]).fails_in_one_line("nothing", 1, &["nowhere"]);
}

/// The error names the tensor, and nothing is written.
#[test]
fn infinite_weights_are_rejected() {
    let folder = Folder::model_with_tokenizer();
    // The file ends with the last weight of some tensor.
    folder.edit_weights(|bytes| {
        let at = bytes.len() - 2;
        bytes[at..].copy_from_slice(&[0x80, 0x7f]);
    });
    for week in ["1", "2"] {
        let generate =
            ["generate", "--model", folder.name(), "--week", week, "-p", "ab", "-n", "4"];
        let sampled = [&generate[..], &["--temperature", "1", "--top-k", "5"]].concat();
        run(&sampled).fails_in_one_line("an infinity, sampled", 1, &["tensor ", "NaN or infinity"]);
        let words = [folder.name(), "tensor ", "NaN or infinity", "finite weights"];
        run(&generate).fails_in_one_line("an infinity, generate", 1, &words);
        let out = folder.file("out.safetensors");
        let logits =
            ["logits", "--model", folder.name(), "--week", week, "--tokens", "5", "--out", &out];
        run(&logits).fails_in_one_line("an infinity, logits", 1, &["tensor ", "NaN or infinity"]);
        assert!(!Path::new(&out).exists(), "no file of what is no number");
    }
}
