//! Models by name, in a cache laid out as `huggingface_hub` lays it out.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    folder::{Folder, STORY},
    process::{Run, command, finished},
};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A cache of models that has the embedded model under the name `some/story`.
struct Cache {
    root: Folder,
}

impl Cache {
    fn new() -> Self {
        let cache = Self { root: Folder::empty() };
        let repository = cache.repository();
        fs::create_dir_all(repository.join("refs")).unwrap();
        fs::write(repository.join("refs/main"), COMMIT).unwrap();
        fs::create_dir_all(repository.join("blobs")).unwrap();
        fs::create_dir_all(cache.snapshot()).unwrap();
        for entry in fs::read_dir(STORY).unwrap() {
            let path = entry.unwrap().path();
            cache.add(&path, path.file_name().unwrap().to_str().unwrap());
        }
        cache
    }

    fn repository(&self) -> PathBuf {
        self.root.path.join("hub/models--some--story")
    }

    fn snapshot(&self) -> PathBuf {
        self.repository().join("snapshots").join(COMMIT)
    }

    fn add(&self, from: &Path, name: &str) {
        let blob = self.repository().join("blobs").join(format!("{:064x}", name.len()) + name);
        fs::copy(from, &blob).unwrap();
        let link = self.snapshot().join(name);
        #[cfg(unix)]
        {
            let target = Path::new("../../blobs").join(blob.file_name().unwrap());
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        // Links may need a privilege here, so the snapshot has the file itself.
        #[cfg(not(unix))]
        fs::rename(blob, link).unwrap();
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = command(args);
        for variable in ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"] {
            command.env_remove(variable);
        }
        finished(command.env("HF_HOME", self.root.name()).output().expect("the binary starts"))
    }
}

#[test]
fn a_model_is_loaded_by_its_name() {
    let cache = Cache::new();
    let story = |model: &str| {
        let said = cache.run(&["generate", "--model", model, "-p", "Once upon a time", "-n", "12"]);
        said.succeeds(model).stdout
    };
    let expected = story(STORY);
    assert!(expected.len() > 20, "{expected}");
    assert_eq!(story("some/story"), expected);
    assert_eq!(story(&format!("some/story@{COMMIT}")), expected);

    let file = cache.root.file("story-Q8_0.gguf");
    cache.run(&["quantize", "some/story", &file, "--type", "q8_0"]).succeeds("quantize");
    let expected = story(&file);
    cache.add(Path::new(&file), "story-Q8_0.gguf");
    assert_eq!(story("some/story:q8_0"), expected);
    let seen = cache.run(&["inspect", "some/story:story-Q8_0.gguf"]).succeeds("inspect");
    assert_eq!(seen.stdout, cache.run(&["inspect", &file]).succeeds("inspect").stdout);
    let named = ["--model", "some/story", "--draft", "some/story:q8_0", "-p", "Once", "-n", "4"];
    cache.run(&[&["generate"], &named[..]].concat()).succeeds("a draft");
}

#[test]
fn a_path_wins_over_a_name() {
    let cache = Cache::new();
    fs::create_dir_all(cache.root.path.join("some/story")).unwrap();
    let args = ["inspect", "some/story"];
    let mut inspect = command(&args);
    inspect.current_dir(&cache.root.path).env("HF_HOME", cache.root.name());
    let run = finished(inspect.output().expect("the binary starts"));
    run.fails_in_one_line("an empty folder", 1, &["some/story/config.json", "cannot be read"]);
}

/// If a model is missing, each command says so in one line, with where it looked and what to type.
#[test]
fn a_model_that_is_not_there_gets_one_line() {
    let cache = Cache::new();
    let folder = cache.root.file("hub");
    let absent = ["no such file or folder", "no such model in", &folder];
    let out = cache.root.file("out");
    const NAME: &str = "other/story";
    let commands: &[&[&str]] = &[
        &["generate", "-p", "a", "--model", NAME],
        &["generate", "-p", "a", "--draft", NAME],
        &["chat", "--model", NAME],
        &["serve", "--model", NAME],
        &["serve", "--draft", NAME],
        &["batch", "requests.jsonl", "--out", &out, "--draft", NAME],
        &["bench", "--model", NAME],
        &["perplexity", "--model", NAME],
        &["score", "--model", NAME],
        &["simulate", "--model", NAME],
        &["simulate", "--real-only", "--draft", NAME],
        &["graph", "--model", NAME],
        &["experts", "--model", NAME],
        &["logits", "--tokens", "1", "--out", &out, "--model", NAME],
        &["trace", "--prompt", "a", "--out", &out, "--model", NAME],
        &["inspect", NAME],
        &["quantize", NAME, &out, "--type", "q8_0"],
        &["stream-pack", NAME, &out],
        &["stream", "file", "--tokenizer", NAME],
    ];
    for args in commands {
        let words = [&absent[..], &[NAME, "`cargo llm fetch other/story` fetches it"]].concat();
        cache.run(args).fails_in_one_line(&args.join(" "), 1, &words);
    }

    let refused = |model: &str, words: &[&str]| {
        cache.run(&["inspect", model]).fails_in_one_line(model, 1, words);
    };
    refused("nowhere", &["nowhere: no such file or folder", "OWNER/NAME[@REVISION][:FILE]"]);
    refused("/no/where", &["/no/where: no such file or folder"]);
    refused("target/a.gguf", &["target/a.gguf: no such file or folder\n"]);
    refused("some/story:model.safetensors", &["ends in .gguf", "Q4_K_M"]);
    refused("some/story:Q4_K_M", &["no such GGUF file", "fetch some/story:Q4_K_M`"]);
    refused("some/story@v2", &["no revision v2", "fetch some/story@v2`"]);
    fs::remove_file(cache.snapshot().join("model.safetensors")).unwrap();
    refused("some/story", &["model.safetensors is missing or incomplete in", "fetch some/story`"]);
}
