//! Teams that lose cores to other programs: results are correct, and no thread waits forever.
#![cfg(all(unix, not(loom), not(miri)))]

use std::{
    env,
    hint::spin_loop,
    process::{Command, Stdio},
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use tiny_llm_kernels::parallel::{InOrder, Team};

/// Runs jobs of 64 tiles for at least `time`.
fn work_for(team: &Team<InOrder>, time: Duration) {
    let begun = Instant::now();
    for job in 0.. {
        let mut out = vec![0; 256];
        team.parallel_rows(&mut out, 4, 1, |row, out| out.fill(job + row));
        assert!(out.iter().enumerate().all(|(i, &n)| n == job + i / 4), "job {job}: {out:?}");
        if begun.elapsed() > time {
            return;
        }
    }
}

const MOMENT: Duration = Duration::from_millis(200);

#[test]
fn completes_with_more_threads_than_cores() {
    work_for(&Team::new(64), MOMENT);
}

#[test]
fn completes_while_other_threads_take_the_cores() {
    let team = Team::new(2);
    work_for(&team, MOMENT);
    scope(|scope| {
        let begun = Instant::now();
        for _ in 0..4 {
            scope.spawn(move || {
                while begun.elapsed() < MOMENT {
                    spin_loop();
                }
            });
        }
        work_for(&team, 2 * MOMENT);
    });
}

/// Environment variable that is set only in the child process, which the test stops.
const VARIABLE: &str = "TINY_LLM_TEST_STOPPED";

#[test]
fn a_process_that_is_stopped_and_continued() {
    if env::var_os(VARIABLE).is_some() {
        return work_for(&Team::new(3), 2 * MOMENT);
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_process_that_is_stopped_and_continued"])
        .env(VARIABLE, "1")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let process = child.id().to_string();
    for signal in ["-STOP", "-CONT"].repeat(15) {
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        sleep(Duration::from_millis(10));
    }
    assert!(child.wait().unwrap().success());
}
