//! Finds models by name, in a cache with the layout of `huggingface_hub`.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tiny_llm_formats::hub::{Choice, Name, Part, cache_of, find};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const FOLDER: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// A cache with one repository.
struct Cache {
    root: TempDir,
    repository: PathBuf,
}

impl Cache {
    /// Creates a cache whose revision `main` has these files, each a link to a blob.
    fn of(files: &[&str]) -> Self {
        let root = TempDir::new().unwrap();
        let repository = root.path().join("models--some--model");
        for folder in ["blobs", "refs", "snapshots"] {
            fs::create_dir_all(repository.join(folder)).unwrap();
        }
        fs::write(repository.join("refs/main"), COMMIT).unwrap();
        fs::create_dir(repository.join("snapshots").join(COMMIT)).unwrap();
        let cache = Self { root, repository };
        files.iter().for_each(|file| cache.add(file, &format!("content of {file}")));
        cache
    }

    fn snapshot(&self) -> PathBuf {
        self.repository.join("snapshots").join(COMMIT)
    }

    fn blob(&self, file: &str) -> PathBuf {
        self.repository.join("blobs").join(file.replace('/', "-"))
    }

    fn add(&self, file: &str, content: &str) {
        fs::write(self.blob(file), content).unwrap();
        let link = self.snapshot().join(file);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        self.link(file, &self.blob(file));
    }

    #[cfg(unix)]
    fn link(&self, file: &str, blob: &Path) {
        let _ = fs::remove_file(self.snapshot().join(file));
        let up = "../".repeat(2 + file.matches('/').count());
        let blob = blob.file_name().unwrap().to_str().unwrap();
        std::os::unix::fs::symlink(format!("{up}blobs/{blob}"), self.snapshot().join(file))
            .unwrap();
    }

    /// Copies the file, because links may need a privilege on this system.
    #[cfg(not(unix))]
    fn link(&self, file: &str, blob: &Path) {
        fs::copy(blob, self.snapshot().join(file)).unwrap();
    }

    fn find(&self, text: &str) -> Result<PathBuf, String> {
        find(&name(text), self.root.path()).map_err(|e| e.to_string())
    }

    /// Checks that `text` isn't found. The one-line error must contain `parts` and a fetch command.
    #[track_caller]
    fn lacks(&self, text: &str, parts: &[&str]) {
        let error = self.find(text).expect_err("nothing whole is there");
        let command = format!("`cargo llm fetch {text}` fetches it");
        for part in parts.iter().copied().chain([text, &command]) {
            assert!(error.contains(part), "expected {part:?} in {error:?}");
        }
        assert!(!error.contains('\n'), "{error:?}");
    }
}

#[test]
fn names_survive_a_round_trip() {
    for text in [
        "HuggingFaceTB/SmolLM2-360M-Instruct",
        "a/b@main",
        "a/b@refs/pr/1",
        "a/b@v1.0@x",
        "a/b:x-q4_k_m.gguf",
        "a/b:folder/x.GGUF",
        "a/b:Q4_K_M",
        "a/b:ud-q4_k_xl",
        "a_1/b.c-d@0123abc:BF16",
    ] {
        assert_eq!(name(text).to_string(), text);
    }
    let read = name("o/n@r/s:f@x.gguf");
    assert_eq!((read.id(), read.revision()), ("o/n".to_owned(), "r/s"));
    assert_eq!(read.file(), Some(&Part::File("f@x.gguf".to_owned())));
    assert_eq!(name("o/n").revision(), "main");
    assert_eq!(name("o/n").at("v2").unwrap().to_string(), "o/n@v2");
    assert_eq!(name("o/n").folder(Path::new("c")), Path::new("c/models--o--n"));
}

#[test]
fn rejects_unsafe_names() {
    for text in [
        "",
        "a",
        "/",
        "a/",
        "/b",
        "a/b/c",
        "/a/b",
        "./b",
        "../b",
        "a/..",
        "a/.b",
        "-a/b",
        "a/b-",
        "a/b--c",
        "a..b/c",
        "a\\b/c",
        "a/b\n",
        "a/b c",
        "a/b.git",
        "é/b",
        "C:/b",
        "a/b@",
        "a/b@.",
        "a/b@../../x",
        "a/b@/x",
        "a/b@x/",
        "a/b@x\\y",
        "a/b@x y",
        "a/b:",
        "a/b:.gguf",
        "a/b:../x.gguf",
        "a/b:/x.gguf",
        "a/b:x\\y.gguf",
        "a/b:x\u{1b}.gguf",
        "a/b:x:y.gguf",
        "a/b:model.safetensors",
        "a/b:K_M",
        "a/b:0",
        "a/b:Q4 0",
    ] {
        assert!(text.parse::<Name>().is_err(), "{text:?} is no name");
    }
    assert!(format!("a/{}", "b".repeat(97)).parse::<Name>().is_err());
    assert!(name("o/n").at("..").is_err());
}

#[test]
fn cache_of_follows_the_environment_variables() {
    let of = |given: &[(&str, &str)]| {
        let given: BTreeMap<_, _> = given.iter().copied().collect();
        let variable = |name: &str| given.get(name).map(|value| OsString::from(*value));
        cache_of(variable, Some(Path::new("/home/me"))).unwrap()
    };
    let mut given = Vec::new();
    for (added, expected) in [
        (("UNRELATED", "/x"), "/home/me/.cache/huggingface/hub"),
        (("XDG_CACHE_HOME", "/xdg"), "/xdg/huggingface/hub"),
        (("HF_HOME", "~/hf"), "/home/me/hf/hub"),
        (("HUGGINGFACE_HUB_CACHE", "/old"), "/old"),
        (("HF_HUB_CACHE", ""), "/old"),
        (("HF_HUB_CACHE", "~"), "/home/me/"),
        (("HF_HUB_CACHE", "relative"), "relative"),
    ] {
        given.push(added);
        assert_eq!(of(&given), Path::new(expected), "{given:?}");
    }
    assert_eq!(cache_of(|_| None, None), None);
    assert_eq!(cache_of(|_| Some("/x".into()), None), Some("/x".into()));
}

#[test]
fn finds_a_folder() {
    let cache = Cache::of(&FOLDER);
    let snapshot = cache.snapshot();
    assert_eq!(cache.find("some/model"), Ok(snapshot.clone()));
    assert_eq!(cache.find(&format!("some/model@{COMMIT}")), Ok(snapshot.clone()));
    fs::create_dir_all(cache.repository.join("refs/refs/pr")).unwrap();
    fs::write(cache.repository.join("refs/refs/pr/1"), format!("{COMMIT}\n")).unwrap();
    assert_eq!(cache.find("some/model@refs/pr/1"), Ok(snapshot.clone()));
    cache.add("old/x-q8_0.gguf", "not chosen beside safetensors");
    assert_eq!(cache.find("some/model"), Ok(snapshot.clone()));
    assert_eq!(cache.find("some/model:Q8_0"), Ok(snapshot.join("old/x-q8_0.gguf")));
}

#[test]
fn finds_a_gguf_file() {
    let cache = Cache::of(&["README.md", "config.json", "m-Q4_K_M.gguf"]);
    let file = cache.snapshot().join("m-Q4_K_M.gguf");
    for text in ["some/model", "some/model:Q4_K_M", "some/model:q4_k_m", "some/model:m-Q4_K_M.gguf"]
    {
        assert_eq!(cache.find(text), Ok(file.clone()), "{text}");
    }
    cache.lacks("some/model:K4_M", &["no such GGUF file", "m-Q4_K_M.gguf"]);
    cache.lacks("some/model:Q4_K", &["no such GGUF file", "m-Q4_K_M.gguf"]);
    cache.lacks("some/model:m-q4_k_m.gguf", &["no such GGUF file", "m-Q4_K_M.gguf"]);
    cache.add("m-Q8_0.gguf", "");
    cache.add("m-00001-of-00002.gguf", "");
    let error = cache.find("some/model").unwrap_err();
    let expected = "some/model: found 2 GGUF files; add :FILE, where FILE is one of m-Q4_K_M.gguf, m-Q8_0.gguf";
    assert_eq!(error, expected);
    let error = cache.find("some/model:m-00001-of-00002.gguf").unwrap_err();
    assert!(error.contains("one of 2 parts, expected a GGUF file in one part"), "{error}");
}

#[test]
fn a_type_selects_by_the_end_of_the_file_name() {
    let files = [
        "a-F16.gguf",
        "b-BF16.gguf",
        "c.Q4_0.gguf",
        "d-IQ4_0.gguf",
        "UD/e-UD-Q4_K_XL.gguf",
        "f-q5_k_m-00001-of-00002.gguf",
        "f-q5_k_m-00002-of-00002.gguf",
        "g-q6_k.gguf",
        "h_Q6_K.GGUF",
    ];
    let chosen = |part: &str| {
        let choice = name(&format!("a/b:{part}")).choose(&files).map_err(|e| e.to_string());
        choice.map(|choice| match choice {
            Choice::File(file) => file,
            Choice::Folder => "folder",
            Choice::Nothing => "nothing",
        })
    };
    assert_eq!(chosen("f16"), Ok("a-F16.gguf"));
    assert_eq!(chosen("BF16"), Ok("b-BF16.gguf"));
    assert_eq!(chosen("Q4_0"), Ok("c.Q4_0.gguf"));
    assert_eq!(chosen("Q4_K_XL"), Ok("UD/e-UD-Q4_K_XL.gguf"));
    assert_eq!(chosen("UD-Q4_K_XL"), Ok("UD/e-UD-Q4_K_XL.gguf"));
    assert_eq!(chosen("Q2_K"), Ok("nothing"));
    assert!(chosen("Q5_K_M").unwrap_err().contains("one of 2 parts"));
    assert!(chosen("Q6_K").unwrap_err().contains("one of g-q6_k.gguf, h_Q6_K.GGUF"));
}

#[test]
fn errors_name_what_is_missing() {
    let cache = Cache::of(&FOLDER);
    let root = cache.root.path().display().to_string();
    cache.lacks("other/model", &["no such model in", &root]);
    cache.lacks("some/model@v2", &["no revision v2", "models--some--model"]);
    cache.lacks("some/model@0123456", &["no revision 0123456"]);
    cache.lacks("some/model:Q4_0", &["no such GGUF file", "has none"]);
    for commit in ["", "..", "../..", "a/b", "fedcba"] {
        fs::write(cache.repository.join("refs/main"), commit).unwrap();
        cache.lacks("some/model", &["no revision main"]);
    }
}

#[test]
fn rejects_incomplete_folders() {
    for file in FOLDER {
        let cache = Cache::of(&FOLDER);
        fs::remove_file(cache.snapshot().join(file)).unwrap();
        cache.lacks("some/model", &[&format!("{file} is missing or incomplete in")]);
    }
    Cache::of(&[]).lacks("some/model", &["config.json is missing or incomplete in"]);
    let cache = Cache::of(&FOLDER);
    fs::remove_file(cache.snapshot().join("config.json")).unwrap();
    fs::create_dir(cache.snapshot().join("config.json")).unwrap();
    cache.lacks("some/model", &["config.json is missing or incomplete in"]);
}

#[cfg(unix)]
#[test]
fn rejects_links_to_missing_or_incomplete_files() {
    for file in ["config.json", "tokenizer.json", "model.safetensors", "chat_template.jinja"] {
        let cache = Cache::of(&FOLDER);
        cache.add(file, "");
        fs::rename(cache.blob(file), cache.repository.join("blobs/x.incomplete")).unwrap();
        cache.lacks("some/model", &[&format!("{file} is missing or incomplete in")]);
        cache.link(file, Path::new("x.incomplete"));
        cache.lacks("some/model", &[&format!("{file} is missing or incomplete in")]);
    }
    let cache = Cache::of(&["x-q8_0.gguf"]);
    fs::remove_file(cache.blob("x-q8_0.gguf")).unwrap();
    cache.lacks("some/model", &["x-q8_0.gguf is missing or incomplete in"]);
    cache.lacks("some/model:Q8_0", &["x-q8_0.gguf is missing or incomplete in"]);
}

#[test]
fn requires_every_shard() {
    const INDEX: &str = "model.safetensors.index.json";
    let shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    let files = ["config.json", "tokenizer.json", shards[0], shards[1]];
    let cache = Cache::of(&files);
    cache.lacks("some/model", &["model.safetensors is missing or incomplete in"]);
    let index = format!(r#"{{"weight_map": {{"b": "{}", "a": "{}"}}}}"#, shards[0], shards[1]);
    cache.add(INDEX, &index);
    assert_eq!(cache.find("some/model"), Ok(cache.snapshot()));
    fs::remove_file(cache.snapshot().join(shards[1])).unwrap();
    cache.lacks("some/model", &[&format!("{} is missing or incomplete in", shards[1])]);
    cache.add(INDEX, r#"{"weight_map": {"a": "../x.safetensors"}}"#);
    assert!(cache.find("some/model").unwrap_err().contains("tensor a: found file"));
}
