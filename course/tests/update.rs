//! Updates a learner's copy of an older version. No work must be lost.
//!
//! The older version comes from git's history. To use its own runner, run
//! `OLD_RUNNER=path/to/course cargo test --package course --test update`.

#![allow(missing_docs, reason = "a test program has no public names")]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use course::{
    curriculum::Curriculum,
    marks::put_in,
    source::{function_body, place},
    stubs::{Generated, generated},
};

/// The last version in which `src/` had no folder for each day. If a function gets another
/// signature, which an update refuses by design, choose a later version.
const OLDER: &str = "46ec594e2ab7e9f5e222c4621703d0186d668667";

/// The state of a function in the learner's files.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    Written,
    Begun,
    Borrowed,
    Untouched,
}
use Work::{Begun, Borrowed, Untouched, Written};

#[test]
fn an_update_across_moved_files_keeps_every_body() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for mix in [&[Written][..], &[Written, Begun, Borrowed, Untouched]] {
        let folder = tempfile::tempdir().unwrap();
        let learner = folder.path().join("learner");
        if !check_out(repository, &learner) {
            println!("not verified: git's history here has no {OLDER}");
            return;
        }
        let bodies = work(&learner, mix);
        assert!(bodies.len() > 200, "{} functions", bodies.len());
        let runner = env::var_os("OLD_RUNNER");
        let runner = runner.map_or(env!("CARGO_BIN_EXE_course").into(), PathBuf::from);
        let mut update = Command::new(runner);
        let output = update.arg("update").arg(repository).current_dir(&learner).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{mix:?}: {said}{error}");
        let mut left = bodies;
        for file in files(&learner) {
            let text = file.current.as_deref().unwrap();
            for key in functions(&file) {
                let (work, body) =
                    left.remove(&key).unwrap_or_else(|| panic!("{key:?} is in two files"));
                let now = body_of(text, &key.1);
                match work {
                    Borrowed => assert!(now.contains("// BORROWED"), "{}: {key:?}", file.path),
                    Untouched => assert!(now.contains("todo!(\"week"), "{}: {key:?}", file.path),
                    Written | Begun => assert_eq!(now, body, "{}: {key:?}", file.path),
                }
            }
            let mine = file.template.regions().next().is_none() || text.contains("as Mine;");
            assert!(mine, "{}: an import is lost", file.path);
        }
        // For a function that was a task and is now provided, the learner's body is kept.
        let texts: Vec<String> = files(&learner).into_iter().filter_map(|f| f.current).collect();
        for (key, (work, body)) in left {
            let mut lines = body.lines().filter(|line| !line.contains("todo!("));
            let kept = lines.all(|line| texts.iter().any(|text| text.contains(line)));
            assert!(kept || matches!(work, Borrowed | Untouched), "{key:?} is gone");
        }
    }
}

/// Writes the older version to `folder`. Returns false if this history does not have it.
fn check_out(repository: &Path, folder: &Path) -> bool {
    let mut find = Command::new("git");
    find.current_dir(repository).args(["rev-parse", "--absolute-git-dir"]);
    let Ok(found) = find.output() else { return false };
    fs::create_dir_all(folder).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder).args(arguments);
        git.env("GIT_DIR", String::from_utf8_lossy(&found.stdout).trim());
        git.env("GIT_WORK_TREE", folder).env("GIT_INDEX_FILE", folder.with_extension("index"));
        git.output().is_ok_and(|output| output.status.success())
    };
    git(&["read-tree", OLDER]) && git(&["checkout-index", "--all"])
}

fn files(root: &Path) -> Vec<Generated> {
    generated(root, &Curriculum::load(root).unwrap()).unwrap()
}

/// Returns the functions of a file's tasks, each with its task.
fn functions(file: &Generated) -> Vec<(String, String)> {
    let name = |function: &String, task: String| (task, function.clone());
    let regions = file.template.regions();
    regions.filter_map(|r| Some(name(r.function.as_ref()?, r.task.to_string()))).collect()
}

fn body_of(text: &str, function: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    function_body(&lines, function).unwrap().join("\n")
}

/// Puts every function into a state of `mix`, in turn, and adds an import to every file of tasks.
/// Returns each function's state and body.
fn work(root: &Path, mix: &[Work]) -> BTreeMap<(String, String), (Work, String)> {
    let mut bodies = BTreeMap::new();
    for (seen, file) in files(root).into_iter().enumerate() {
        let mut text = file.stub.clone();
        let mut works = BTreeMap::new();
        for (n, region) in file.template.regions().filter(|r| r.function.is_some()).enumerate() {
            let function = region.function.clone().unwrap();
            let work = mix[(seen + n) % mix.len()];
            let lines: Vec<&str> = text.lines().collect();
            let body = place(&lines, &function).unwrap().body;
            let todo = body.clone().find(|&i| lines[i].contains("todo!(\"week")).unwrap();
            let indentation = &lines[todo][..lines[todo].find("todo!").unwrap()];
            let mut new: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
            if work == Written {
                new.splice(todo..=todo, region.body(indentation));
            }
            if matches!(work, Written | Begun) {
                new.insert(todo, format!("{indentation}// mine: {}, {function}", file.path));
            }
            text = new.join("\n") + "\n";
            works.insert(function, work);
        }
        if works.is_empty() {
            continue;
        }
        let at = text.find("\n\n").unwrap() + 2;
        text.insert_str(at, "use std::collections::BTreeSet as Mine;\n");
        let borrowed = |_: &_, function: &str| works.get(function) == Some(&Borrowed);
        let (text, _) = put_in(&file.template, &text, borrowed).unwrap();
        for key in functions(&file) {
            let made = (works[&key.1], body_of(&text, &key.1));
            assert!(bodies.insert(key, made).is_none());
        }
        fs::write(root.join(&file.path), text).unwrap();
    }
    bodies
}
