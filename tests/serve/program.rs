//! The program, started and ended.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, ChildStderr, Command, Stdio},
    thread,
    time::Duration,
};

/// A server that is killed when this is dropped.
pub(crate) struct Program {
    pub(crate) address: SocketAddr,
    child: Child,
    errors: BufReader<ChildStderr>,
}

impl Program {
    /// With the embedded model, in pages that are shared.
    pub(crate) fn start(more: &[&str]) -> Self {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story");
        let args = ["serve", "--model", model, "--port", "0", "-c", "256", "-j", "2"];
        let mut child = Command::new(env!("CARGO_BIN_EXE_tiny-llm-serve"))
            .args(args)
            .args(more)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).expect("text") > 0, "it ended: {said}");
            said += &line;
            if let Some((_, address)) = line.split_once("http://") {
                break address.trim_end().parse().expect("an address");
            }
        };
        Self { address, child, errors }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, as a system does that shuts down.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    }

    /// Its exit code, once it has ended, and what else it printed.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.errors.read_to_string(&mut said).expect("text");
        (self.child.wait().expect("it ends").code(), said)
    }

    /// Open files.
    #[cfg(target_os = "linux")]
    pub(crate) fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).expect("a list").count()
    }

    /// Processor time that it has used, in clock ticks (hundredths of a second).
    #[cfg(target_os = "linux")]
    pub(crate) fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).expect("it runs");
        let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
        let fields = fields.split_whitespace().skip(11).take(2);
        fields.map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
    }

    /// Memory that it uses, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let line = line.and_then(|line| line.trim().strip_suffix(" kB")).expect("a line");
        line.parse::<u64>().expect("a number") * 1024
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for something that must come, however busy the machine is.
#[track_caller]
pub(crate) fn until(what: &str, mut wanted: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if wanted() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("timed out waiting for: {what}");
}
