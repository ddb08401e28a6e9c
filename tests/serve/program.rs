//! Starts and stops the program.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, ChildStderr, Command, Stdio},
    thread,
    time::Duration,
};

/// A running server, which is killed when this value is dropped.
pub(crate) struct Program {
    pub(crate) address: SocketAddr,
    child: Child,
    errors: BufReader<ChildStderr>,
}

impl Program {
    /// Starts the server with the embedded model and the additional options `more`.
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

    /// Sends SIGTERM to the server.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    }

    /// Waits until the server exits. Returns the exit code, and the rest of standard error.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.errors.read_to_string(&mut said).expect("text");
        (self.child.wait().expect("it ends").code(), said)
    }

    /// Returns the number of files that the server has open.
    #[cfg(target_os = "linux")]
    pub(crate) fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).expect("a list").count()
    }

    /// Returns the server's processor time so far, in clock ticks (hundredths of a second).
    #[cfg(target_os = "linux")]
    pub(crate) fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).expect("it runs");
        let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
        let fields = fields.split_whitespace().skip(11).take(2);
        fields.map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
    }

    /// Returns the server's resident memory in bytes.
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

/// Waits until `wanted` returns true. Panics after about two minutes.
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
