//! Kills the runner while it writes, and runs it twice at the same time: see `kill/harness.rs`.

#![allow(unreachable_pub, missing_docs, reason = "a test program has no public names")]

use std::{fs, path::Path};

use course::{curriculum::Curriculum, stubs};

#[path = "kill/harness.rs"]
mod harness;
use harness::{Case, FILES, course, kill, mapped, read, run, start_command};

#[test]
fn a_killed_command_leaves_every_file_old_or_new() {
    let program = env!("CARGO_BIN_EXE_course");
    let folder = tempfile::tempdir().unwrap();
    let (root, newer) = (folder.path().join("learner"), folder.path().join("newer"));
    let newer_name = newer.display().to_string();
    course(&root, "");
    course(&newer, "/// A newer sentence.\n");
    rearrange(&newer);
    stubs::write(&newer, &Curriculum::load(&newer).unwrap(), false).unwrap();
    stubs::write(&root, &Curriculum::load(&root).unwrap(), false).unwrap();
    let stubs = read(&root);
    // The learner's work: bodies, and a line next to each task.
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

/// Moves every second file of tasks to another folder, and updates the curriculum.
fn rearrange(root: &Path) {
    let list = root.join("course/curriculum.toml");
    let mut tasks = fs::read_to_string(&list).unwrap();
    let folder = root.join("reference/src/week1");
    fs::create_dir_all(folder.join("even")).unwrap();
    for n in (0..FILES).step_by(2) {
        fs::rename(folder.join(format!("m{n}.rs")), folder.join(format!("even/m{n}.rs"))).unwrap();
        tasks = tasks.replace(&format!("week1/m{n}.rs"), &format!("week1/even/m{n}.rs"));
    }
    fs::write(list, tasks).unwrap();
}

#[test]
fn concurrent_commands_do_not_interfere() {
    let program = env!("CARGO_BIN_EXE_course");
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    course(root, "");
    stubs::write(root, &Curriculum::load(root).unwrap(), false).unwrap();
    let stubs = read(root);
    run(program, root, &["borrow", "week1-day1"]);
    let borrowed = read(root);
    for (command, tree) in [("return", &stubs), ("borrow", &borrowed)].repeat(4) {
        let arguments = [command, "week1-day1"];
        let mut writers = [(); 2].map(|()| start_command(program, root, &arguments));
        while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
            run(program, root, &["status"]);
        }
        let ended = writers.map(|mut writer| writer.wait().unwrap().success());
        assert_ne!(ended, [false, false], "`{command}` is disturbed");
        assert!(read(root) == *tree, "the whole of `{command}` is done");
    }
}
