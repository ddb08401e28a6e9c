//! Repeatedly kills a program while it writes, and checks the result: each file is the old one or
//! the new one, none of the learner's lines is lost, other commands work, and running the same
//! command again completes it.
//!
//! The tests of the runner and of the tools share this file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

pub const FILES: usize = 40;
/// Number of kills per command. Every second kill happens soon after the first file is replaced.
const KILLS: usize = 16;

/// Contents of all files by path, except those in `.course` and temporary files.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// A command to kill, and the files before it runs.
pub struct Case<'a> {
    /// Arguments, such as `["borrow", "week1-day1"]`.
    pub arguments: Vec<&'a str>,
    pub old: &'a Tree,
}

/// Runs the command of each case many times, and kills it at random moments. Checks the files each
/// time.
///
/// # Panics
/// If a file is half-written or lost, or no kill left both old and new files.
pub fn kill(program: &str, root: &Path, cases: &[Case]) {
    let mut random = Random::new();
    println!("seed {}", random.0);
    let (mut kills, mut amid) = (0, 0);
    for Case { arguments: command, old } in cases {
        let (mut early, mut mixed, mut late) = (0, 0, 0);
        restore(root, old);
        let start = Instant::now();
        run(program, root, command);
        let usual = start.elapsed();
        let new = read(root);
        assert_ne!(**old, new, "{command:?} changes something");
        let paths = old.keys().chain(new.keys().filter(|path| !old.contains_key(*path)));
        let changed: Vec<&String> = paths.filter(|path| old.get(*path) != new.get(*path)).collect();
        let has_begun =
            || changed.iter().any(|path| fs::read(root.join(path)).ok().as_ref() != old.get(*path));
        for n in 0..KILLS {
            restore(root, old);
            let mut child = start_command(program, root, command);
            if n % 2 == 0 {
                thread::sleep(usual.mul_f64(random.unit()));
            } else {
                while !has_begun() && child.try_wait().unwrap().is_none() {
                    thread::sleep(Duration::from_micros(200));
                }
                thread::sleep(usual.mul_f64(random.unit() / 4.0));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            match inspect(program, root, old, &new, command) {
                State::Old => early += 1,
                State::Mixed => mixed += 1,
                State::New => late += 1,
            }
        }
        println!(
            "{:<7} killed {KILLS} times in {usual:?}: {early} before, {mixed} amid, {late} after \
             the writes",
            command[0]
        );
        kills += KILLS;
        amid += mixed;
    }
    println!("{kills} kills, {amid} of them while some files were old and others new");
    assert!(amid > 0, "no kill left both old and new files, so this test checked nothing");
}

#[derive(PartialEq)]
enum State {
    Old,
    Mixed,
    New,
}

/// Checks the files after a kill. Then checks that another command works, and that running
/// `command` again completes it. Returns the state after the kill.
fn inspect(program: &str, root: &Path, old: &Tree, new: &Tree, command: &[&str]) -> State {
    let left = read(root);
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).chain(left.keys()).collect();
    let (mut as_old, mut as_new) = (0, 0);
    for path in
        paths.iter().filter(|path| old.get(**path) != new.get(**path) || !old.contains_key(**path))
    {
        let now = left.get(*path);
        let (is_old, is_new) = (now == old.get(*path), now == new.get(*path));
        assert!(
            is_old || is_new,
            "{command:?}: {path} is neither the old file nor the new one, but {:?}",
            now.map(Vec::len)
        );
        as_old += usize::from(is_old);
        as_new += usize::from(is_new);
        if let Some(old) = old.get(*path).filter(|_| path.starts_with("src/")) {
            assert!(
                is_old || kept(root, path).contains(old),
                "{command:?}: the old version of {path} is not in .course/recovery"
            );
        }
    }
    // After an interrupted update, the list of tasks may not match the reference. `status` says so.
    let looks = if command[0] == "stubs" { &["stubs", "--check"][..] } else { &["status"] };
    let output = Command::new(program).args(looks).current_dir(root).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let reported = command[0] == "update" && said.contains("run `cargo course update` again");
    assert!(output.status.success() || reported, "{command:?}: then {looks:?} failed: {said}");
    assert_eq!(read(root), left, "{command:?}: then {looks:?} changed a file");
    let again = Command::new(program).args(command).current_dir(root).output().unwrap();
    assert!(
        again.status.success() || left == *new,
        "{command:?} fails when it is run again:\n{}{}",
        String::from_utf8_lossy(&again.stdout),
        String::from_utf8_lossy(&again.stderr)
    );
    assert!(
        read(root) == *new,
        "{command:?}: a second run did not finish the work of the killed run"
    );
    match (as_old, as_new) {
        (_, 0) => State::Old,
        (0, _) => State::New,
        _ => State::Mixed,
    }
}

/// Returns all versions of a file in `.course/recovery`.
fn kept(root: &Path, path: &str) -> Vec<Vec<u8>> {
    let Ok(folders) = fs::read_dir(root.join(".course/recovery")) else { return Vec::new() };
    folders.filter_map(|folder| fs::read(folder.unwrap().path().join(path)).ok()).collect()
}

/// Creates a course of one day with [`FILES`] files, each with one task. Each function's doc
/// comment is `doc`.
pub fn course(root: &Path, doc: &str) {
    let mut list = String::from(
        "[[week]]\n\
         number = 1\n\
         title = \"W\"\n\
         [[week.day]]\n\
         feature = \"week1-day1\"\n\
         title = \"D\"\n\
         chapter = \"c.md\"\n",
    );
    let (mut modules, filler) = (
        String::from("//! Provided: the list of modules.\n"),
        "// A line, so that a write takes its time.\n".repeat(50),
    );
    for n in 0..FILES {
        list += &format!(
            "[[week.day.task]]\n\
             number = {}\n\
             title = \"T\"\n\
             file = \"src/week1/m{n}.rs\"\n\
             functions = [\"f{n}\"]\n\
             goal = \"G.\"\n",
            n + 1
        );
        modules += &format!("pub mod m{n};\n");
        let body =
            format!("    // SOLUTION week1-day1 task {}\n    {n}\n    // END SOLUTION\n", n + 1);
        let text = format!("//! Module {n}.\n\n{filler}\n{doc}pub fn f{n}() -> u32 {{\n{body}}}\n");
        write(&root.join(format!("reference/src/week1/m{n}.rs")), text.as_bytes());
    }
    write(&root.join("reference/src/week1/mod.rs"), modules.as_bytes());
    write(&root.join("course/curriculum.toml"), list.as_bytes());
    write(&root.join("tests/week1_day1.rs"), format!("// {doc}").as_bytes());
}

/// Returns the tree with `change` applied to each file of `src/`.
pub fn mapped(tree: &Tree, change: impl Fn(String) -> String) -> Tree {
    let text = |content: &Vec<u8>| String::from_utf8(content.clone()).unwrap();
    let one = |(path, content): (&String, &Vec<u8>)| {
        let content = if path.starts_with("src/") {
            change(text(content)).into_bytes()
        } else {
            content.clone()
        };
        (path.clone(), content)
    };
    tree.iter().map(one).collect()
}

/// Starts a command and discards its output.
pub fn start_command(program: &str, root: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Runs a command to its end.
///
/// # Panics
/// If it fails.
pub fn run(program: &str, root: &Path, arguments: &[&str]) {
    assert!(start_command(program, root, arguments).wait().unwrap().success(), "{arguments:?}");
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Makes all files in `root` equal to `old`, and removes `.course` and temporary files.
fn restore(root: &Path, old: &Tree) {
    let _ = fs::remove_dir_all(root.join(".course"));
    let now = all(root);
    for path in now.keys().filter(|path| !old.contains_key(*path)) {
        fs::remove_file(root.join(path)).unwrap();
    }
    for (path, content) in old.iter().filter(|(path, content)| now.get(*path) != Some(content)) {
        write(&root.join(path), content);
    }
}

/// Returns all files except those in `.course` and temporary files.
pub fn read(root: &Path) -> Tree {
    let mut tree = all(root);
    tree.retain(|path, _| !path.ends_with(".tmp"));
    tree
}

fn all(root: &Path) -> Tree {
    let (mut tree, mut open) = (Tree::new(), vec![PathBuf::new()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root.join(&path).is_dir() {
                open.extend((path != Path::new(".course")).then_some(path));
            } else {
                let name: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
                tree.insert(name.join("/"), fs::read(root.join(&path)).unwrap());
            }
        }
    }
    tree
}

/// Random numbers, different in each run. The seed is printed.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Self(now.as_nanos() as u64)
    }

    /// Returns a number from 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}
