//! The submissions with which grading is tested: honest ones, unfinished and broken ones, and those
//! of `tests/hostile/`.
//!
//! A hostile submission is a text. It has a line that describes it (`# …`). Optional lines give
//! text that its results must contain (`# at last: …`) or must not contain (`# never: …`). Then
//! come blocks that change a submission of only stubs:
//!
//! ```text
//! == body softmax linear               the code that replaces these functions' `todo!`
//! == items src/week1/attention/attention.rs      text that is appended to this file
//! == whole src/week1/attention/attention.rs      text that replaces this file
//! == file Cargo.toml                   another file, whose folder may have the name of a file
//! == link src/week1/attention/attention.rs       a link to the path that follows
//! == repeat src/week1/attention/attention.rs     brackets to append, and how many: `100000 ( )`
//! ```
//!
//! `{ROOT}` is the course's folder, `{NEIGHBOUR}` is an honest submission's folder, and `{REPORT}`
//! is a string with the test runner's output if all of day 1's tests pass.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{bank, curriculum::Curriculum, libtest::tests_of_tasks, stubs::Generated};

/// Folder of the hostile submissions.
const FOLDER: &str = "tests/hostile";

/// The file that contains all of day 1's tasks.
const ATTENTION: &str = "src/week1/attention/attention.rs";

/// A submission, and its expected results.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) name: String,
    files: BTreeMap<String, Vec<u8>>,
    links: BTreeMap<String, PathBuf>,
    /// How many of day 1's three tasks pass.
    pub(super) passed: usize,
    /// Text that the submission's results must contain.
    pub(super) at_last: Option<String>,
    /// Text that the submission's results must not contain.
    pub(super) never: Option<String>,
    /// Text that the submission's row in the table must contain.
    pub(super) shown: Option<&'static str>,
}

impl Case {
    /// Writes the submission's files and links to `folder`.
    ///
    /// # Errors
    /// If one cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        for (path, text) in &self.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        for (path, target) in &self.links {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            #[cfg(unix)]
            std::os::unix::fs::symlink(target, path)?;
            #[cfg(not(unix))]
            let _ = (path, target);
        }
        Ok(())
    }
}

/// Creates submissions from the course's files.
pub(super) struct Maker<'a> {
    pub(super) root: &'a Path,
    pub(super) curriculum: &'a Curriculum,
    pub(super) files: &'a [Generated],
    /// Folder of an honest submission.
    pub(super) neighbour: &'a Path,
}

impl Maker<'_> {
    fn all(&self, name: &str, passed: usize, text: impl Fn(&Generated) -> String) -> Case {
        let texts = self.files.iter().map(|file| (file.path.clone(), text(file).into_bytes()));
        Case { name: name.to_owned(), files: texts.collect(), passed, ..Case::default() }
    }

    /// Returns submissions that must get all points: the reference, the bank's correct
    /// alternatives, and one that is written unusually.
    ///
    /// # Errors
    /// If the bank cannot be read.
    pub(super) fn honest(&self) -> Result<Vec<Case>> {
        let mut cases = vec![self.all("good", 3, |file| file.template.render(|_| true))];
        let (alternates, _) = bank::alternates(self.root, self.curriculum)?;
        let mut bodies: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
        for entry in &alternates {
            let key = (entry.task.to_string(), entry.function.as_str());
            bodies.entry(key).or_default().push(&entry.body);
        }
        let most = bodies.values().map(Vec::len).max().unwrap_or(0);
        for mix in 0..most {
            cases.push(self.all(&format!("otherwise-{mix}"), 3, |file| {
                file.template.render_arms(|task, function| {
                    let all = bodies.get(&(task.to_string(), function));
                    let chosen = all.map(|all| all[mix % all.len()]);
                    let arm = chosen.map(|body| format!("0 => {{\n{body}\n}}"));
                    ("0".to_owned(), arm.into_iter().collect())
                })
            }));
        }
        cases.push(self.odd());
        cases.push(Case {
            name: "good-again".to_owned(),
            ..self.all("", 3, |file| file.template.render(|_| true))
        });
        Ok(cases)
    }

    /// Creates a submission with helpers in their own file, a macro, names that are keywords
    /// elsewhere, comments that contain code, and Windows line ends.
    fn odd(&self) -> Case {
        let mut case = self.all("odd", 3, |file| file.template.render(|_| true));
        let text = "\u{feff}//! std::process::exit(0); unsafe { include!(\"x\") } #[path = \"y\"]\n\
                    /* /* extern crate fs; */ env!(\"HOME\") */\n\
                    #![allow(dead_code)]\n\
                    macro_rules! largest { ($row:expr) => { $row.iter().copied().fold(f32::MIN, \
                    f32::max) } }\n\
                    pub(super) fn stable(row: &[f32]) -> Vec<f32> {\n\
                    let net = if !row.is_empty() { largest!(row) } else { 0.0 } ; let path \
                    = \"std::fs\";\n\
                    debug_assert!(path.len() == 7, \"{}\", r#\"asm!(\"nop\")\"#);\n\
                    row.iter().map(|env| (env - net).exp()).collect() }\n";
        let file = "src/week1/helpers.rs".to_owned();
        case.files.insert(file, text.replace('\n', "\r\n").into_bytes());
        if let Some(text) = case.files.get_mut("src/week1/mod.rs") {
            text.extend(b"\nmod helpers;\n");
        }
        if let Some(text) = case.files.get_mut(ATTENTION) {
            text.extend(b"\n#[allow(dead_code)] fn used(x: &[f32]) -> Vec<f32> { super::helpers::stable(x) }\n");
            *text = String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes();
        }
        case
    }

    /// Creates a submission of stubs, with `function`'s `todo!` replaced by `body`. If `rest`,
    /// other tasks have the reference's bodies.
    fn with_body(&self, name: &str, function: &str, body: &str, rest: bool) -> Case {
        self.all(name, 0, |file| {
            let spoilt = file.template.regions().find(|region| {
                region.function.as_deref() == Some(function) && file.path == ATTENTION
            });
            // The other functions of its task remain stubs, because the task fails in any case.
            let task = spoilt.map(|region| region.task.clone());
            let text = file.template.render(|id| rest && Some(id) != task.as_ref());
            if task.is_none() { text } else { put_body(&text, function, body) }
        })
    }

    /// Returns submissions that don't pass every task, each for a different reason. If their code
    /// compiles, a task that fails must not affect the others.
    pub(super) fn broken(&self) -> Vec<Case> {
        let case = |name, function, body, passed, shown| Case {
            passed,
            shown: Some(shown),
            ..self.with_body(name, function, body, true)
        };
        let deep = "fn down(x: u64) -> u64 { std::hint::black_box(down(x + 1)) + 1 }\n    \
                    panic!(\"{}\", down(0))";
        let greedy = "let mut all = Vec::new();\n    \
                      loop { all.push(std::hint::black_box(vec![1u8; 1 << 24])); }";
        let floods =
            "loop { let _ = std::io::Write::write_all(&mut std::io::stdout(), &[b'x'; 4096]); }";
        let mut cases = vec![
            Case { shown: Some("0/3"), ..self.all("stubs", 0, |file| file.stub.clone()) },
            case("endless", "split_heads", "loop {}", 2, "ended after 5 s"),
            case("broken", "softmax", "let x: u32 = \"\"; x", 0, "does not compile"),
            case("overflows", "split_heads", deep, 2, "stack overflow"),
            case("aborts", "split_heads", "std::process::abort()", 2, "ended by signal"),
            case("floods", "split_heads", floods, 2, "ended after"),
            case("leaves", "split_heads", "std::process::exit(0)", 2, "incomplete"),
        ];
        // Without a memory limit, an endless program would use all of this machine's memory.
        if cfg!(target_os = "linux") {
            cases.push(case("greedy", "split_heads", greedy, 2, "out of memory"));
        }
        cases
    }

    /// Returns the submissions of [`FOLDER`].
    ///
    /// # Errors
    /// If one cannot be read.
    pub(super) fn hostile(&self) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        let folder = self.root.join(FOLDER);
        for entry in fs::read_dir(&folder)
            .with_context(|| format!("{} cannot be listed", folder.display()))?
        {
            let path = entry?.path();
            let text = fs::read_to_string(&path)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let case = self.parse(&name, &text).with_context(|| path.display().to_string())?;
            cases.push(case);
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(cases)
    }

    fn parse(&self, name: &str, text: &str) -> Result<Case> {
        let text = text
            .replace("{ROOT}", &self.root.display().to_string())
            .replace("{NEIGHBOUR}", &self.neighbour.display().to_string())
            .replace("{REPORT}", &format!("{:?}", self.report()?));
        let (head, blocks) =
            text.split_once("\n== ").context("this case has no block that begins with ==")?;
        let mut case = self.all(name, 0, |file| file.stub.clone());
        let said =
            |start: &str| head.lines().find_map(|line| Some(line.strip_prefix(start)?.to_owned()));
        (case.at_last, case.never) = (said("# at last: "), said("# never: "));
        for block in blocks.split("\n== ") {
            let (title, text) = block.split_once('\n').unwrap_or((block, ""));
            let (kind, of) = title.split_once(' ').context("a block has no name")?;
            let of = of.to_owned();
            match kind {
                "body" => {
                    let file = case.files.entry(ATTENTION.to_owned()).or_default();
                    for function in of.split(' ') {
                        *file = put_body(&String::from_utf8_lossy(file), function, text).into();
                    }
                }
                "items" => case.files.entry(of).or_default().extend(format!("\n{text}\n").bytes()),
                "whole" | "file" => {
                    // This path may be in a folder that has the name of a file.
                    case.files.retain(|file, _| !of.starts_with(&format!("{file}/")));
                    case.files.insert(of, text.as_bytes().to_vec());
                }
                "link" => {
                    case.files.remove(&of);
                    case.links.insert(of, text.trim().into());
                }
                "repeat" => {
                    let [times, open, close] = text.split_whitespace().collect::<Vec<_>>()[..]
                    else {
                        bail!("expected a number, an opening and a closing bracket");
                    };
                    let times = times.parse()?;
                    let brackets = open.repeat(times) + &close.repeat(times);
                    case.files
                        .entry(of)
                        .or_default()
                        .extend(format!("const _: u8 = {brackets};\n").bytes());
                }
                other => bail!("unknown kind of block: {other:?}"),
            }
        }
        Ok(case)
    }

    /// Returns what the test runner prints if all of day 1's tests pass.
    fn report(&self) -> Result<String> {
        let text = fs::read_to_string(self.root.join("tests/week1_day1.rs"))?;
        let mut names: Vec<&str> = tests_of_tasks(&text).collect();
        names.sort();
        let n = names.len();
        let lines: String = names.iter().map(|name| format!("test {name} ... ok\n")).collect();
        Ok(format!(
            "\nrunning {n} tests\n{lines}\ntest result: ok. {n} passed; 0 failed; 0 ignored; 0 \
             measured; 3 filtered out; finished in 0.01s\n\n"
        ))
    }
}

/// Replaces a function's `todo!` with `body`.
fn put_body(text: &str, function: &str, body: &str) -> String {
    let lines = text.lines().map(|line| {
        let stub = line.trim().starts_with("todo!(\"week1-day1 task ")
            && line.trim().ends_with(&format!(": {function}\")"));
        if stub { body } else { line }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
