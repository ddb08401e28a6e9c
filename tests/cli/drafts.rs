//! The options `--draft` and `--cache`: answers come sooner and stay the same.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    folder::{DRAFT, Folder},
    process::{Run, command, finished, run},
};

const PROMPT: &str = "Once upon a time there was a girl named Lily. Lily had a red ball.";

/// Continues `PROMPT` with the embedded model and the options `more`.
fn story(more: &[&str]) -> Run {
    let mut args = vec!["generate", "-p", PROMPT, "-n", "30", "--week", "2", "-j", "1"];
    args.extend(more);
    run(&args).succeeds(&format!("generate {more:?}"))
}

#[test]
fn drafts_change_no_greedy_text() {
    let alone = story(&[]);
    for who in ["lookup", DRAFT] {
        let said = story(&["--draft", who]);
        assert_eq!(said.stdout, alone.stdout, "--draft {who}");
        let line = said.stderr.lines().find(|line| line.starts_with("drafts ")).expect("a line");
        assert!(line.contains(" accepted, ") && line.ends_with(" passes"), "{line}");
    }
    let with = story(&["--draft", DRAFT, "--repeat-penalty", "1.3"]);
    assert_eq!(with.stdout, story(&["--repeat-penalty", "1.3"]).stdout, "with a penalty");
}

#[test]
fn a_seed_gives_the_same_text_with_drafts() {
    let text = |seed: &str| {
        story(&["--draft", DRAFT, "--temperature", "0.8", "--top-k", "40", "--seed", seed]).stdout
    };
    assert_eq!(text("5"), text("5"));
    assert_ne!(text("5"), text("6"));
}

#[test]
fn a_draft_model_with_another_vocabulary_is_refused() {
    let small = Folder::model_with_tokenizer();
    let refused = run(&["generate", "-p", "a", "--draft", small.name()]);
    refused.fails_in_one_line("51 tokens", 1, &[small.name(), "51", "1536"]);

    let other = Folder::model_with_tokenizer();
    let path = other.file("tokenizer.json");
    let text = fs::read_to_string(&path).unwrap();
    let swapped = text.replace("\"a\": 4", "\"?\": 4").replace("\"b\": 5", "\"a\": 5");
    let swapped = swapped.replace("\"?\": 4", "\"b\": 4");
    assert_ne!(text, swapped, "two letters change places");
    fs::write(&path, swapped).unwrap();
    let refused = run(&["generate", "--model", small.name(), "-p", "a", "--draft", other.name()]);
    let words = [other.name(), "token 4: found \"b\"", "expected \"a\"", small.name()];
    refused.fails_in_one_line("two letters", 1, &words);
}

#[test]
fn draft_and_cache_need_the_kv_cache() {
    for option in [["--draft", "lookup"], ["--cache", "file"]] {
        let [name, value] = option;
        let refused = run(&["generate", "-p", "a", "--week", "1", name, value]);
        refused.fails_in_one_line("--week 1", 2, &["--week 1", name]);
        let refused = run(&["generate", "-p", "a", "--no-cache", name, value]);
        refused.fails_in_one_line("--no-cache", 2, &["--no-cache", name]);
    }
    let refused = run(&["generate", "-p", "a", "--draft", "no-such-model"]);
    refused.fails_in_one_line("no such model", 1, &["no-such-model"]);
}

/// A small model, and the path of its prompt cache file.
struct Kept {
    model: Folder,
    path: String,
}

impl Kept {
    fn new() -> Self {
        let model = Folder::model_with_tokenizer();
        let path = model.file("prompt.cache");
        Self { model, path }
    }

    fn args<'a>(&'a self, prompt: &'a str) -> Vec<&'a str> {
        let options = ["-p", prompt, "-n", "4", "--cache", &self.path];
        [&["generate", "--model", self.model.name()], &options[..]].concat()
    }

    fn run(&self, prompt: &str) -> Run {
        run(&self.args(prompt)).succeeds(prompt)
    }

    /// Runs with `-q`, so that standard error has only warnings. Returns standard output and error.
    fn complaints(&self, prompt: &str) -> (String, String) {
        let said = run(&[&self.args(prompt)[..], &["-q"]].concat()).succeeds(prompt);
        (said.stdout, said.stderr)
    }

    fn alone(&self, prompt: &str) -> String {
        let options = ["-p", prompt, "-n", "4", "--week", "2", "-q"];
        let args = [&["generate", "--model", self.model.name()], &options[..]].concat();
        run(&args).succeeds(prompt).stdout
    }
}

#[test]
fn a_second_run_computes_only_the_last_token() {
    let kept = Kept::new();
    // One token for each letter, plus <s>.
    for (prompt, found) in [
        ("abcdefg", "0 of 8"),
        ("abcdefg", "7 of 8"),
        ("abcdefghijk", "8 of 12"),
        ("abcdefghijk", "11 of 12"),
        ("abcdxyz", "5 of 8"),
        ("k", "1 of 2"),
    ] {
        let said = kept.run(prompt);
        let line = format!("cache    {found} prompt tokens from {}\n", kept.path);
        assert!(said.stderr.contains(&line), "{prompt}: expected {line:?} in\n{}", said.stderr);
        assert_eq!(said.stdout, kept.alone(prompt), "{prompt}");
    }
}

#[test]
fn chat_saves_its_prompt() {
    let kept = Kept::new();
    let chat = || {
        let args =
            ["chat", "--model", kept.model.name(), "--raw", "-n", "3", "--cache", &kept.path];
        crate::process::run_with_input(&args, b"abcd\nabce\n").succeeds("chat")
    };
    let (first, second) = (chat(), chat());
    assert_eq!(first.stdout, second.stdout);
    let notes = |said: &Run| -> Vec<String> {
        let found = said.stderr.split("· cache ").skip(1);
        found.map(|rest| rest.split(" prompt").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(notes(&first), ["0 of 4", "0 of 4"]);
    // The file holds the last prompt, which has three letters in common with the first.
    assert_eq!(notes(&second), ["3 of 4", "0 of 4"]);
}

/// A damaged cache file does not change the answer. One line reports what is wrong with the file,
/// and the file is replaced.
#[test]
fn a_damaged_file_is_reported_and_replaced() {
    let kept = Kept::new();
    let (text, quiet) = kept.complaints("abcdefg");
    assert_eq!((text.as_str(), quiet.as_str()), (kept.alone("abcdefg").as_str(), ""));
    let good = fs::read(&kept.path).unwrap();
    let mut damages: Vec<(String, Vec<u8>)> = vec![
        ("empty".to_owned(), Vec::new()),
        ("cut off".to_owned(), good[..good.len() - 1].to_vec()),
        ("cut off early".to_owned(), good[..30].to_vec()),
        ("longer".to_owned(), [&good[..], &[0; 9]].concat()),
    ];
    for at in [8, 12, 16, 24, 36, 40, 45, good.len() / 2, good.len() - 1] {
        let mut flipped = good.clone();
        flipped[at] ^= 4;
        damages.push((format!("a bit of byte {at}"), flipped));
    }
    for (what, bytes) in damages {
        fs::write(&kept.path, bytes).unwrap();
        let (found, said) = kept.complaints("abcdefg");
        assert_eq!(found, text, "{what}");
        assert_eq!(said.lines().count(), 1, "{what}: {said}");
        let (start, end) =
            (format!("{}: found ", kept.path), "computing the whole prompt instead\n");
        assert!(said.starts_with(&start) && said.ends_with(end), "{what}: {said}");
        assert!(fs::read(&kept.path).unwrap() == good, "{what}: the file is as new");
    }
    // Files of another model, and of another cache type.
    let other = Kept { model: Folder::model_with_tokenizer(), path: kept.path.clone() };
    other.model.edit_weights(|bytes| {
        let at = bytes.len() - 2;
        bytes[at] ^= 1;
    });
    let (_, said) = other.complaints("abcdefg");
    assert!(said.contains("fingerprint") && said.lines().count() == 1, "{said}");
    let f32s = [&kept.args("abcdefg")[..], &["-q", "--cache-type", "f32"]].concat();
    let said = run(&f32s).succeeds("f32").stderr;
    assert!(said.contains("found an f16 cache") && said.lines().count() == 1, "{said}");
}

/// A file of another kind is not changed, because it may be the learner's work.
#[test]
fn a_file_that_is_no_cache_is_never_replaced() {
    let kept = Kept::new();
    let texts: [&[u8]; 5] = [b"T", b"TINYKV\n", b"tinykv\r\n and more", b"My thesis", b"GGUF\x03"];
    for bytes in texts {
        fs::write(&kept.path, bytes).unwrap();
        for command in ["generate", "chat"] {
            let model = ["--model", kept.model.name(), "-n", "2", "--cache", &kept.path];
            let rest = if command == "chat" { "--raw" } else { "--prompt=abc" };
            let said = run(&[&[command], &model[..], &[rest]].concat());
            let words =
                [kept.path.as_str(), r#"does not begin with "TINYKV\r\n""#, "left unchanged"];
            said.fails_in_one_line(command, 1, &words);
            assert!(fs::read(&kept.path).unwrap() == bytes, "{command}: the file is as it was");
        }
    }
}

#[test]
fn a_path_that_cannot_be_a_file_is_reported() {
    let kept = Kept::new();
    let text = kept.alone("abc");
    let folder = Folder::empty();
    for path in [folder.name().to_owned(), format!("{}/no/such/folder", folder.name())] {
        let kept = Kept { model: Folder::model_with_tokenizer(), path };
        let (found, said) = kept.complaints("abc");
        assert_eq!((found.as_str(), said.lines().count()), (text.as_str(), 1), "{said}");
        assert!(said.starts_with(folder.name()), "{said}");
    }
}

/// A cache file that could not be written completely is removed.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_in_one_line() {
    let kept = Kept::new();
    let text = kept.alone("abcdefg");
    // Limits files to one block of 512 bytes. The signal is ignored, so writing fails.
    let args = [&kept.args("abcdefg")[..], &["-q"]].concat();
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let said = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_tiny-llm")])
        .args(args)
        .output()
        .map(finished)
        .unwrap()
        .succeeds("a full disk");
    assert_eq!(said.stdout, text);
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    assert!(said.stderr.contains("prompt.cache: cannot be written"), "{}", said.stderr);
    let left: Vec<_> = fs::read_dir(&kept.model.path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("prompt.cache"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Kills the program at different moments while it saves the cache. The file is then the old one or
/// the new one, and the next run works despite any temporary file that was left.
#[test]
fn a_kill_while_saving_leaves_the_old_or_the_new_file() {
    let kills = std::env::var("TINY_LLM_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12u32);
    let kept = Kept::new();
    let prompts = ["abcdefghijkl", "mnopqrstabcdefgh"];
    let files = prompts.map(|prompt| {
        let _ = fs::remove_file(&kept.path);
        kept.run(prompt);
        fs::read(&kept.path).unwrap()
    });
    let (mut inside, mut runs) = (0, 0u32);
    while inside < kills {
        assert!(runs < 20 * kills, "{inside} of {runs} kills came while the file was written");
        let (old, new) = (runs as usize % 2, 1 - runs as usize % 2);
        let before = (runs % 4 > 0).then(|| files[old].clone());
        match &before {
            Some(bytes) => fs::write(&kept.path, bytes).unwrap(),
            None => drop(fs::remove_file(&kept.path)),
        }
        let mut child = command(&kept.args(prompts[new])).spawn().unwrap();
        // The new file has this name until it is complete.
        let unfinished = kept.model.file(&format!(".prompt.cache.{}.unfinished", child.id()));
        while !Path::new(&unfinished).exists() && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        // Then waits up to 175 µs, different in each run.
        let end = Instant::now() + Duration::from_micros(u64::from(runs * 7919 % 8 * 25));
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait_with_output().unwrap();
        let found = fs::read(&kept.path).ok();
        // The program was killed before it could rename or remove the temporary file.
        if fs::remove_file(&unfinished).is_ok() {
            inside += 1;
            assert!(found == before, "kill {runs}: the file is not the one before");
        } else {
            assert!(
                found.as_ref() == Some(&files[new]),
                "kill {runs}: the file is not the new one"
            );
        }
        runs += 1;
    }
    println!("{inside} of {runs} kills came while the file was written");
    let said = run(&[&kept.args(prompts[0])[..], &["-q"]].concat()).succeeds("afterwards");
    assert_eq!((said.stdout, said.stderr), (kept.alone(prompts[0]), String::new()));
}
