//! Kills `cargo course stubs` while it writes: see the runner's `tests/kill/harness.rs`.

#![allow(unreachable_pub, missing_docs, reason = "a test program has no public names")]

#[path = "../../course/tests/kill/harness.rs"]
mod harness;
use harness::{Case, course, kill, mapped, read, run};

#[test]
fn killed_stubs_leave_every_file_old_or_new() {
    let program = env!("CARGO_BIN_EXE_course-tools");
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("learner");
    course(&root, "");
    run(program, &root, &["stubs"]);
    let written =
        mapped(&read(&root), |text| text.replace("    todo!(", "    // mine\n    todo!("));
    kill(program, &root, &[Case { arguments: vec!["stubs", "--force"], old: &written }]);
}
