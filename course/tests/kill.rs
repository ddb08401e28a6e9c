//! The runner is killed while it writes: see `kill/harness.rs`.

#![allow(unreachable_pub, missing_docs, reason = "a test program has no public names")]

use course::{curriculum::Curriculum, stubs};

#[path = "kill/harness.rs"]
mod harness;
use harness::{Case, course, kill, mapped, read, run};

#[test]
fn a_killed_command_leaves_every_file_old_or_new() {
    let program = env!("CARGO_BIN_EXE_course");
    let folder = tempfile::tempdir().unwrap();
    let (root, newer) = (folder.path().join("learner"), folder.path().join("newer"));
    let newer_name = newer.display().to_string();
    course(&root, "");
    course(&newer, "/// A newer sentence.\n");
    stubs::write(&root, &Curriculum::load(&root).unwrap(), false).unwrap();
    let stubs = read(&root);
    // What the learner wrote: bodies, and a line beside each task.
    let beside = mapped(&stubs, |text| {
        text.replace("    todo!(", "    // mine\n    todo!(").replace("//! Module", "//! My module")
    });
    run(program, &root, &["borrow", "week1-day1"]);
    let borrowed = read(&root);
    kill(
        program,
        &root,
        &[
            Case { arguments: vec!["borrow", "week1-day1"], old: &stubs },
            Case { arguments: vec!["return", "week1-day1"], old: &borrowed },
            Case { arguments: vec!["update", &newer_name], old: &beside },
        ],
    );
}
