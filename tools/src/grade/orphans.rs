//! Processes that left their group: on Linux they come back to the runner as its children, and are
//! ended.

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, end};

/// Makes this process the parent of what its children leave behind.
#[cfg(not(target_os = "linux"))]
pub(super) fn adopt() {}

/// Ends what was left behind.
#[cfg(not(target_os = "linux"))]
pub(super) fn end() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        fs,
        sync::atomic::{AtomicBool, Ordering},
        thread,
        time::{Duration, Instant},
    };

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };

    static ADOPTED: AtomicBool = AtomicBool::new(false);

    /// Makes this process the parent of what its children leave behind. From then on it must have
    /// no other child while [`end`] runs.
    pub(in crate::grade) fn adopt() {
        ADOPTED.store(set_child_subreaper(Some(getpid())).is_ok(), Ordering::Relaxed);
    }

    /// Ends every child of this process, and theirs, as each comes back to it. Gives up after two
    /// seconds.
    pub(in crate::grade) fn end() {
        let start = Instant::now();
        while ADOPTED.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(2) {
            let children = children();
            if children.is_empty() {
                break;
            }
            for &child in &children {
                let _ = kill_process(child, Signal::KILL);
            }
            for &child in &children {
                let _ = waitpid(Some(child), WaitOptions::NOHANG);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn children() -> Vec<Pid> {
        let own = getpid();
        let numbers = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers
            .filter(|&number: &i32| parent(number) == Some(own))
            .filter_map(Pid::from_raw)
            .collect()
    }

    /// The fourth field of `/proc/N/stat`; the second is a name that may hold anything, in
    /// brackets.
    fn parent(number: i32) -> Option<Pid> {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        Pid::from_raw(stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?)
    }
}
