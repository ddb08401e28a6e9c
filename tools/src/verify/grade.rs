//! `cargo course grade` on submissions that are sound, unfinished, broken, endless, greedy, loud or
//! dishonest: each gets its verdict, and none costs the others theirs.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};

use super::context::{Outcome, Verification, seconds};
use crate::{
    process::run_aloud,
    stubs::{Generated, generated},
};

/// Seconds for a day's tests in this step.
const TIME: u64 = 4;

/// What is put in the place of a task's body, and what must come of it.
struct Case {
    /// The submission's name.
    name: &'static str,
    /// The function that is spoilt; `None` leaves the reference's bodies, or the stubs.
    function: Option<&'static str>,
    body: &'static str,
    /// Tasks that pass of day 1's three.
    passed: u64,
    /// A part of its row in the table.
    shown: &'static str,
}

const CASES: [Case; 10] = [
    Case {
        name: "endless",
        function: Some("softmax"),
        body: "loop {}",
        passed: 0,
        shown: "ended after 4 s",
    },
    Case {
        name: "broken",
        function: Some("softmax"),
        body: "let x: u32 = \"\"; x",
        passed: 0,
        shown: "does not compile",
    },
    Case {
        name: "aborts",
        function: Some("split_heads"),
        body: "std::process::abort()",
        passed: 2,
        shown: "ended by signal",
    },
    Case { name: "good", function: None, body: "reference", passed: 3, shown: "3/3" },
    Case {
        name: "overflows",
        function: Some("split_heads"),
        body: "fn down(x: u64) -> u64 { std::hint::black_box(down(x + 1)) + 1 }\n    panic!(\"{}\", down(0))",
        passed: 2,
        shown: "stack overflow",
    },
    Case {
        name: "greedy",
        function: Some("split_heads"),
        body: "let mut all = Vec::new();\n    loop { all.push(std::hint::black_box(vec![1u8; 1 << 24])); }",
        passed: 2,
        shown: "out of memory",
    },
    Case {
        name: "floods",
        function: Some("softmax"),
        body: "loop { let _ = std::io::Write::write_all(&mut std::io::stdout(), &[b'x'; 4096]); }",
        passed: 0,
        shown: "ended after 4 s",
    },
    Case {
        name: "leaves",
        function: Some("softmax"),
        body: "std::process::exit(0)",
        passed: 0,
        shown: "0/3",
    },
    Case { name: "stubs", function: None, body: "stubs", passed: 0, shown: "0/3" },
    Case { name: "good-again", function: None, body: "reference", passed: 3, shown: "3/3" },
];

/// All of them in one run, on day 1.
pub(super) fn grade(v: &mut Verification) -> Result<Outcome> {
    let files = generated(&v.root, &v.curriculum)?;
    let folder = v.root.join("target/verify/grade");
    let _ = fs::remove_dir_all(&folder);
    // Where memory is not limited, a program without end would take all of this machine's.
    let cases: Vec<&Case> =
        CASES.iter().filter(|case| cfg!(target_os = "linux") || case.name != "greedy").collect();
    let mut command =
        v.cargo("course grade --days week1-day1 --memory-limit 512 --trust --time-limit");
    command.arg(TIME.to_string()).arg("--out").arg(folder.join("out"));
    for case in &cases {
        let submission = folder.join("in").join(case.name);
        write(&submission, case, &files)?;
        command.arg(submission);
    }
    let finished = run_aloud(&mut command)?;
    ensure!(finished.status.success(), "`cargo course grade` failed ({})", finished.status);
    let mut problems = Vec::new();
    for case in &cases {
        if let Err(error) = judge(&folder.join("out"), case, &finished.text) {
            problems.push(format!("{}: {error:#}", case.name));
        }
    }
    let result = |name: &str| fs::read(folder.join("out").join(name).join("results.json"));
    if result("good")? != result("good-again")? {
        problems.push("two gradings of the same files differ".to_owned());
    }
    let junit =
        fs::read_to_string(folder.join("out/junit.xml")).context("there is no junit.xml")?;
    let suites = junit.matches("<testsuite ").count();
    if suites != cases.len() {
        problems.push(format!("junit.xml has {suites} suites"));
    }
    // The libraries' build, and for each the build, the day's limit and the tasks' single tests.
    let bound = Duration::from_secs(300 + cases.len() as u64 * (30 + 2 * TIME));
    if finished.duration > bound {
        problems.push(format!("the run took longer than its limits allow, {}", seconds(bound)));
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(Outcome::Passed(format!("{} submissions in {}", cases.len(), seconds(finished.duration))))
}

/// Writes a submission's files.
fn write(folder: &Path, case: &Case, files: &[Generated]) -> Result<()> {
    for file in files {
        let stub = "todo!(\"week1-day1 task ";
        let text = match case.function {
            None => file.template.render(|_| case.body == "reference"),
            // The other functions of its task stay stubs: the task is lost in any case.
            Some(function) => {
                let text = file.template.render(|id| !spoils(file, function, id));
                let lines = text.lines().map(|line| {
                    let spoilt = line.trim().starts_with(stub)
                        && line.ends_with(&format!(": {function}\")"));
                    if spoilt { format!("    {}", case.body) } else { line.to_owned() }
                });
                lines.collect::<Vec<_>>().join("\n") + "\n"
            }
        };
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// Whether the function belongs to the task.
fn spoils(file: &Generated, function: &str, id: &crate::curriculum::TaskId) -> bool {
    file.template
        .regions()
        .any(|region| region.task == *id && region.function.as_deref() == Some(function))
}

fn judge(out: &Path, case: &Case, printed: &str) -> Result<()> {
    let row = printed
        .lines()
        .find(|line| line.split_whitespace().next() == Some(case.name))
        .context("not in the table")?;
    ensure!(row.contains(case.shown), "the table says `{row}`; expected {:?} in it", case.shown);
    let text = fs::read_to_string(out.join(case.name).join("results.json"))
        .context("there is no results.json")?;
    let results: serde_json::Value =
        serde_json::from_str(&text).context("results.json is malformed")?;
    ensure!(
        results["score"].as_f64() == Some(case.passed as f64),
        "its score is {}; expected {}",
        results["score"],
        case.passed
    );
    let tests = results["tests"].as_array().map_or(0, Vec::len);
    ensure!(tests == 3, "results.json has {tests} tasks; expected 3");
    let size = fs::metadata(out.join(case.name).join("output.txt"))
        .context("there is no output.txt")?
        .len();
    ensure!(size < 2 << 20, "output.txt has {size} bytes; its limit is 1 MiB");
    let dishonest = case.body.contains("process::") || case.body.contains("stdout");
    ensure!(
        !dishonest || printed.contains(&format!("look at: {}: ", case.name)),
        "nothing says to look at it"
    );
    Ok(())
}
