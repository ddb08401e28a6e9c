//! A hub that works correctly: what is fetched, and how it is stored in the cache.

use std::{fs, io::Read, net::TcpListener};

use tiny_llm_fetch::{Show, fetch};

use super::{
    Cache, NEEDED, good,
    hub::{Act, COMMIT, Hub, Kind, Stored},
    model, name,
    program::{command, fails_in_one_line},
};

#[test]
fn fetches_required_files_into_the_layout_of_huggingface_hub() {
    let (cache, stored) = (Cache::new(), model());
    let hub = good(&stored);
    let path = cache.fetch(&hub, "owner/name").expect("a model");
    let repository = cache.path().join("models--owner--name");
    assert_eq!(path, repository.join("snapshots").join(COMMIT));
    assert_eq!(cache.check("fetched", "owner/name", &stored, &NEEDED).as_ref(), Some(&path));
    assert_eq!(fs::read_to_string(repository.join("refs/main")).expect("a file"), COMMIT);
    let mut files: Vec<_> = fs::read_dir(&path)
        .expect("a folder")
        .map(|file| file.expect("a file").file_name().into_string().expect("text"))
        .collect();
    files.sort();
    assert_eq!(files, NEEDED);
    #[cfg(unix)]
    {
        let blob = &stored.iter().find(|file| file.name == "config.json").expect("a file").hash;
        let link = fs::read_link(path.join("config.json")).expect("a link");
        assert_eq!(link.to_str(), Some(&*format!("../../blobs/{blob}")));
    }
    assert_eq!(fs::read_dir(&repository).expect("a folder").count(), 3, "blobs, refs, snapshots");

    // A second fetch sends only requests about the files. A fetch by commit adds no ref.
    let before = hub.asked().len();
    cache.fetch(&hub, "owner/name").expect("a model");
    let again = cache.fetch(&hub, &format!("owner/name@{COMMIT}")).expect("a model");
    assert_eq!(again, path);
    let after = hub.asked().split_off(before);
    assert!(after.iter().all(|asked| matches!(asked.kind, Kind::Listing | Kind::Head)));
    assert_eq!(fs::read_dir(repository.join("refs")).expect("a folder").count(), 1);
    // A branch with a folder in its name.
    cache.fetch(&hub, "owner/name@refs/pr/1").expect("a model");
    let branch = fs::read_to_string(repository.join("refs/refs/pr/1"));
    assert_eq!(branch.expect("a file"), COMMIT);
}

#[test]
fn fetches_all_shards() {
    let mut stored = model();
    stored.retain(|file| file.name != "model.safetensors");
    let shard = |k: u8| format!("model-0000{k}-of-00002.safetensors");
    for k in 1..=2 {
        stored.push(Stored::new(&shard(k), vec![k; 10_000], true));
    }
    let index = format!("{{\"weight_map\": {{\"a\": {:?}, \"b\": {:?}}}}}", shard(1), shard(2));
    stored.push(Stored::new("model.safetensors.index.json", index.into_bytes(), false));
    let needed: Vec<&str> =
        ["config.json", "tokenizer.json", "model.safetensors.index.json"].into();
    let shards = [shard(1), shard(2)];
    let needed = [needed, shards.iter().map(String::as_str).collect()].concat();
    let cache = Cache::new();
    let path = cache.fetch(&good(&stored), "owner/name").expect("a model");
    assert_eq!(cache.check("sharded", "owner/name", &stored, &needed), Some(path));

    stored.retain(|file| file.name != shard(2));
    let error = Cache::new().fetch(&good(&stored), "owner/name").expect_err("a shard is missing");
    let text = format!("{error:#}");
    assert!(
        text.contains("lists model-00002-of-00002.safetensors, which the repository lacks"),
        "{text}"
    );
}

#[test]
fn one_gguf_file_is_fetched_by_its_name_or_type() {
    let file = |name: &str, fill| Stored::new(name, vec![fill; 3000], true);
    let stored = vec![file("m-q4_0.gguf", 1), file("m-Q8_0.gguf", 2), file("deep/m-f16.gguf", 3)];
    let hub = good(&stored);
    for (part, expected) in [("m-q4_0.gguf", 0), ("Q4_0", 0), ("q8_0", 1), ("deep/m-f16.gguf", 2)] {
        let cache = Cache::new();
        let model = format!("owner/name:{part}");
        let path = cache.fetch(&hub, &model).expect(part);
        let wanted = &*stored[expected].name;
        assert!(path.ends_with(wanted), "{part}: {}", path.display());
        assert_eq!(cache.check(part, &model, &stored, &[wanted]), Some(path), "{part}");
        let blobs = fs::read_dir(cache.path().join("models--owner--name/blobs"));
        assert_eq!(blobs.expect("a folder").count(), 1, "{part}");
    }
    for (model, words) in [
        ("owner/name", "found 3 GGUF files; add :FILE, where FILE is one of m-q4_0.gguf"),
        ("owner/name:Q6_K", "no such GGUF file in the repository, which has m-q4_0.gguf, "),
        ("owner/other", "owner/other: found no public repository of this name at 127.0.0.1"),
    ] {
        let error = Cache::new().fetch(&hub, model).expect_err(model).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn sends_the_token_only_to_the_hub() {
    let cache = Cache::new();
    let hub = Hub::start(model(), |asked| match asked.token.as_deref() {
        Some("Bearer hf_right") => Act::Serve,
        None if asked.kind == Kind::Content => Act::Serve,
        None => Act::Refuse(401, "RepoNotFound"),
        Some(_) => Act::Refuse(401, ""),
    });
    let with = |token: Option<&str>| {
        let mut settings = cache.settings(&hub);
        settings.token = token.map(str::to_owned);
        fetch(&name("owner/name"), &settings, &Show::Nothing)
    };
    let error = |token| with(token).expect_err("it is private").to_string();
    assert!(error(None).contains("to read a private repository, set HF_TOKEN"));
    assert!(error(Some("hf_wrong")).contains("does not accept the token"));
    with(Some("hf_right")).expect("a model");
    let at_content = hub.asked_for(Kind::Content, "model.safetensors");
    assert!(at_content.len() == 1 && at_content[0].token.is_none(), "{at_content:?}");

    // A hub that redirects the request for its list of files, as a mirror may.
    let mirror = Hub::start(Vec::new(), |asked| match asked.kind {
        Kind::Listing if asked.number == 0 => Act::Redirect("http://@content/api"),
        _ => Act::Refuse(404, ""),
    });
    let mut settings = Cache::new().settings(&mirror);
    settings.token = Some("hf_right".to_owned());
    fetch(&name("owner/name"), &settings, &Show::Nothing).expect_err("nothing is there");
    let asked = mirror.asked();
    assert_eq!(asked[0].token.as_deref(), Some("Bearer hf_right"));
    assert_eq!((asked[1].kind, &asked[1].token), (Kind::Content, &None));
}

#[test]
fn resumes_or_replaces_an_incomplete_file() {
    let stored = model();
    let weights = stored.iter().find(|file| file.name == "model.safetensors").expect("a file");
    let mut spoilt = weights.content[..1_000_000].to_vec();
    let right = spoilt.clone();
    spoilt[17] ^= 1;
    let long = vec![0; weights.content.len() + 1];
    for (what, left, requests) in [
        ("a part", &right, vec![Some(1_000_000)]),
        ("a spoilt part", &spoilt, vec![Some(1_000_000), None]),
        ("too many bytes", &long, vec![None]),
        ("all bytes", &weights.content, vec![]),
        ("no bytes", &Vec::new(), vec![None]),
    ] {
        let (cache, hub) = (Cache::new(), good(&stored));
        let blobs = cache.path().join("models--owner--name/blobs");
        fs::create_dir_all(&blobs).expect("a folder");
        fs::write(blobs.join(format!("{}.incomplete", weights.hash)), left).expect("a file");
        let path = cache.fetch(&hub, "owner/name").expect(what);
        assert_eq!(cache.check(what, "owner/name", &stored, &NEEDED), Some(path), "{what}");
        let asked = hub.asked_for(Kind::Content, "model.safetensors");
        let from: Vec<_> = asked.iter().map(|asked| asked.from).collect();
        assert_eq!(from, requests, "{what}");
    }
}

#[test]
fn program_prints_a_path_or_a_one_line_error() {
    let (cache, stored) = (Cache::new(), model());
    let hub = good(&stored);
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = command(&cache, &hub, arguments);
        command.envs(variables.iter().copied()).output().expect("the program starts")
    };
    let offline = ("HF_HUB_OFFLINE", "1");
    let words = ["HF_HUB_OFFLINE is set", "owner/name"];
    fails_in_one_line(&run(&["owner/name"], &[offline]), 1, &words);
    let dry = run(&["owner/name", "--dry-run"], &[]);
    let table = String::from_utf8(dry.stdout).expect("text");
    assert!(table.contains("    1.5 MB  model.safetensors\n"), "{table}");
    assert!(table.ends_with("    1.5 MB  in all, 1.5 MB to download\n"), "{table}");
    assert!(!cache.path().join("models--owner--name").exists(), "a dry run downloads nothing");

    let fetched = run(&["owner/name", "--revision", "main"], &[]);
    let path = String::from_utf8(fetched.stdout).expect("text");
    assert!(path.ends_with(&format!("{COMMIT}\n")), "{path}");
    let lines = String::from_utf8(fetched.stderr).expect("text");
    assert!(lines.contains("model.safetensors: 1.5 MB, ") && !lines.contains('\r'), "{lines}");
    assert_eq!(run(&["owner/name"], &[offline]).stdout, path.as_bytes());
    let dry = String::from_utf8(run(&["owner/name", "--dry-run"], &[]).stdout).expect("text");
    assert!(dry.contains("in the cache") && dry.ends_with("0 B to download\n"), "{dry}");

    let nothing = ("HF_ENDPOINT", "http://127.0.0.1:9");
    fails_in_one_line(&run(&["owner/name"], &[nothing]), 1, &["127.0.0.1:9: cannot be reached"]);
    let no_host = ("HF_ENDPOINT", "http://no-such-host.invalid");
    fails_in_one_line(&run(&["owner/name"], &[no_host]), 1, &["no-such-host.invalid"]);
    let token = ("HF_TOKEN", "two words");
    fails_in_one_line(&run(&["owner/name"], &[token]), 1, &["HF_TOKEN: found a space"]);
    let revision = run(&["owner/name", "--revision", "../x"], &[]);
    fails_in_one_line(&revision, 2, &["--revision: ", "see --help"]);
    assert_eq!(run(&["name"], &[]).status.code(), Some(2));
}

#[test]
fn a_proxy_is_used() {
    let (cache, hub) = (Cache::new(), good(&model()));
    let proxy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", proxy.local_addr().expect("an address"));
    let child = command(&cache, &hub, &["owner/name"]).env("ALL_PROXY", address).spawn();
    let child = child.expect("the program starts");
    let mut first = [0; 8];
    let (mut stream, _) = proxy.accept().expect("a connection");
    stream.read_exact(&mut first).expect("a request");
    drop(stream);
    assert_eq!(&first, b"CONNECT ");
    let output = child.wait_with_output().expect("a process");
    fails_in_one_line(&output, 1, &["127.0.0.1"]);
    assert!(hub.asked().is_empty());
}
