//! Runs a program in its own process group, with limits of time, memory and output. The group ends
//! with the program.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io::Read,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// File descriptor from which bubblewrap reads the filter of system calls.
pub(super) const FILTER: u8 = 9;

/// Whether a memory limit is enforced on this system. macOS accepts a limit but ignores it, and
/// Windows has none of this kind.
pub(super) const MEMORY_IS_LIMITED: bool = cfg!(target_os = "linux");

/// The process groups that are running.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends all running programs before this process ends, because their process groups do not receive
/// the terminal's interrupt.
pub(super) fn end_running() {
    lock(&RUNNING).iter().for_each(|id| end_group(*id));
}

/// Limits for a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Elapsed time, for the program and all child processes.
    pub(super) time: Duration,
    /// Elapsed time without a byte of standard output. A test runner prints a line after each test.
    pub(super) silence: Duration,
    /// Processor time of each process, in seconds over all its threads.
    pub(super) processor: u64,
    /// Address space of each process, in MiB.
    pub(super) memory: u64,
    /// Number of bytes that are kept of standard output, and of standard error.
    pub(super) output: usize,
}

/// The result of a program that ended or was stopped.
#[derive(Debug)]
pub(super) struct Ended {
    /// Exit status. `None` if the program was stopped because a time limit was reached.
    pub(super) status: Option<ExitStatus>,
    /// The time limit at which the program was stopped, if any.
    pub(super) limit: Option<Duration>,
    /// Standard output, possibly with its middle cut out.
    pub(super) stdout: String,
    /// Standard error, possibly with its middle cut out.
    pub(super) stderr: String,
}

impl Ended {
    /// Returns why the program gave no verdict, in words that are the same in every run.
    pub(super) fn reason(&self, limits: &Limits) -> String {
        if let Some(limit) = self.limit {
            return format!("ended after {} s, the time limit", limit.as_secs());
        }
        if self.stderr.contains("has overflowed its stack") {
            return "stack overflow".to_owned();
        }
        if self.stderr.contains("memory allocation of ") {
            return format!("out of memory: the limit is {} MiB", limits.memory);
        }
        let code = self.status.and_then(|status| status.code());
        #[cfg(unix)]
        let code = code.or_else(|| {
            use std::os::unix::process::ExitStatusExt;
            self.status.and_then(|status| status.signal()).map(|signal| 128 + signal)
        });
        match code {
            Some(137) => format!(
                "ended by signal 9: the program used up {} s of processor time, or the machine's \
                 memory",
                limits.processor
            ),
            // Bubblewrap exits like this if a signal ended its program.
            Some(code @ 129..=192) => format!("ended by signal {}", code - 128),
            Some(code) => format!("ended with exit code {code} without a verdict"),
            None => "ended without a verdict".to_owned(),
        }
    }
}

/// Runs `program` in `folder` until it ends or reaches a time limit. Its environment has only
/// `variables`. The file `filter`, if any, is open as descriptor [`FILTER`].
///
/// # Errors
/// If it cannot be started.
pub(super) fn run<A: AsRef<OsStr>>(
    program: &OsStr,
    arguments: &[A],
    folder: &Path,
    variables: &[(String, std::ffi::OsString)],
    filter: Option<&Path>,
    limits: &Limits,
) -> Result<Ended> {
    let mut command = command(program, filter, limits);
    command.args(arguments).current_dir(folder).env_clear();
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("{} cannot be started", program.to_string_lossy()))?;
    lock(&RUNNING).insert(child.id());
    let stdout = Reader::new(child.stdout.take(), limits.output);
    let stderr = Reader::new(child.stderr.take(), limits.output);
    let waited = wait(&mut child, start, limits, &stdout);
    // Child processes may still hold the pipes open and use the processor.
    end_group(child.id());
    lock(&RUNNING).remove(&child.id());
    let _ = child.kill();
    let _ = child.wait();
    let (status, limit) = match waited? {
        Waited::Ended(status) => (Some(status), None),
        Waited::Late(limit) => (None, Some(limit)),
    };
    let patience = Instant::now() + Duration::from_secs(10);
    Ok(Ended { status, limit, stdout: stdout.text(patience), stderr: stderr.text(patience) })
}

/// Returns a command that starts `program` through a shell. The shell sets limits: no core files, a
/// maximum file size, the usual number of open files (sockets use the kernel's memory), processor
/// time (also of processes that escape), and memory.
#[cfg(unix)]
fn command(program: &OsStr, filter: Option<&Path>, limits: &Limits) -> Command {
    use std::os::unix::process::CommandExt;
    // `ulimit -f` counts blocks of 512 bytes.
    let mut script =
        format!("ulimit -c 0; ulimit -f 524288; ulimit -n 1024; ulimit -t {}; ", limits.processor);
    if MEMORY_IS_LIMITED {
        script += &format!("ulimit -v {} || exit 125; ", limits.memory.saturating_mul(1024));
    }
    // If there is a filter, its file is the first argument.
    if filter.is_some() {
        script += &format!("exec {FILTER}<\"$1\"; shift; ");
    }
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script + "exec \"$0\" \"$@\"").arg(program).process_group(0);
    command.args(filter);
    command
}

#[cfg(not(unix))]
fn command(program: &OsStr, _filter: Option<&Path>, _limits: &Limits) -> Command {
    Command::new(program)
}

/// How waiting for a program ended.
enum Waited {
    Ended(ExitStatus),
    /// This time limit was reached first.
    Late(Duration),
}

fn wait(child: &mut Child, start: Instant, limits: &Limits, stdout: &Reader) -> Result<Waited> {
    let mut pause = Duration::from_millis(1);
    let (mut bytes, mut heard) = (0, start);
    loop {
        let status = child.try_wait().context("the exit status of a program cannot be read")?;
        if let Some(status) = status {
            return Ok(Waited::Ended(status));
        }
        if start.elapsed() >= limits.time {
            return Ok(Waited::Late(limits.time));
        }
        if heard.elapsed() >= limits.silence {
            return Ok(Waited::Late(limits.silence));
        }
        let now = lock(&stdout.kept).bytes;
        if now != bytes {
            (bytes, heard) = (now, Instant::now());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Ends all processes in this process group.
fn end_group(id: u32) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(windows)]
    let _ = Command::new("taskkill")
        .args(["/T", "/F", "/PID", &id.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// Reads a pipe to its end, and keeps the beginning and the end of the data.
struct Reader {
    kept: Arc<Mutex<Kept>>,
    half: usize,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    /// The last bytes of the data. Truncated to `half` bytes whenever they exceed twice that.
    tail: Vec<u8>,
    cut: u64,
    /// Number of bytes received.
    bytes: u64,
}

impl Kept {
    fn add(&mut self, mut bytes: &[u8], half: usize) {
        self.bytes += bytes.len() as u64;
        let room = half.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        bytes = &bytes[room..];
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * half {
            self.cut_back(half);
        }
    }

    fn cut_back(&mut self, half: usize) {
        let superfluous = self.tail.len().saturating_sub(half);
        self.tail.drain(..superfluous);
        self.cut += superfluous as u64;
    }

    fn text(&mut self, half: usize) -> String {
        self.cut_back(half);
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.cut > 0 {
            text += &format!("\n[… {} bytes left out …]\n", self.cut);
        }
        text + &String::from_utf8_lossy(&self.tail)
    }
}

impl Reader {
    fn new(pipe: Option<impl Read + Send + 'static>, limit: usize) -> Self {
        let (kept, half) = (Arc::new(Mutex::new(Kept::default())), limit / 2);
        let thread = pipe.map(|mut pipe| {
            let kept = Arc::clone(&kept);
            thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(length @ 1..) = pipe.read(&mut buffer) {
                    lock(&kept).add(&buffer[..length], half);
                }
            })
        });
        Self { kept, half, thread }
    }

    /// Waits until the pipe is closed, or until `patience`, and returns the data. A process that
    /// escaped may keep the pipe open.
    fn text(self, patience: Instant) -> String {
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
            && Instant::now() < patience
        {
            thread::sleep(Duration::from_millis(1));
        }
        lock(&self.kept).text(self.half)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, seconds: u64, memory: u64) -> Ended {
        let time = Duration::from_secs(seconds);
        let limits = Limits { time, silence: time / 2, processor: 60, memory, output: 1 << 16 };
        let path = ("PATH".to_owned(), std::env::var_os("PATH").unwrap());
        run(OsStr::new("/bin/sh"), &["-c", script], Path::new("/"), &[path], None, &limits).unwrap()
    }

    #[test]
    fn run_keeps_both_outputs_and_clears_the_environment() {
        let ended = sh("echo out; echo error >&2; echo \"home: $HOME\"; exit 3", 10, 2048);
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("out\nhome: \n", "error\n"));
        assert_eq!(ended.status.unwrap().code(), Some(3));
    }

    #[test]
    fn long_output_keeps_its_beginning_and_end() {
        let ended =
            sh("echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last", 30, 2048);
        assert!(
            ended.stdout.starts_with("first\nxxx") && ended.stdout.ends_with("xxx\nlast\n"),
            "{}",
            ended.stdout.len()
        );
        assert!(
            ended.stdout.len() < (1 << 16) + 100 && ended.stdout.contains("bytes left out"),
            "{}",
            ended.stdout.len()
        );
    }

    /// Returns whether a process stays alive for five seconds. A process that is gone or a zombie
    /// isn't alive. On a busy machine, a killed process takes a while to end.
    fn lives(id: &str) -> bool {
        (0..500).all(|_| {
            thread::sleep(Duration::from_millis(10));
            let ps = Command::new("ps").args(["-o", "stat=", "-p", id.trim()]).output().unwrap();
            String::from_utf8_lossy(&ps.stdout).trim().starts_with(|state| state != 'Z')
        })
    }

    #[test]
    fn time_limit_kills_the_whole_process_group() {
        let start = Instant::now();
        let ended = sh("sleep 50 & echo $!; sleep 50", 1, 2048);
        assert!(
            ended.status.is_none() && start.elapsed() < Duration::from_secs(20),
            "{:?}",
            start.elapsed()
        );
        assert!(!lives(&ended.stdout), "{} lives on", ended.stdout);
    }

    #[test]
    fn output_resets_the_silence_limit() {
        let ended = sh("echo a; sleep 50", 4, 2048);
        assert_eq!((ended.limit, ended.stdout.as_str()), (Some(Duration::from_secs(2)), "a\n"));
        let ended = sh("while :; do echo a; sleep 0.1; done", 4, 2048);
        assert_eq!(ended.limit, Some(Duration::from_secs(4)));
    }

    #[test]
    fn kills_child_processes_when_the_program_ends() {
        let start = Instant::now();
        let ended = sh("sleep 50 & echo $!", 20, 2048);
        assert!(
            ended.status.is_some() && start.elapsed() < Duration::from_secs(20),
            "the pipe is not waited for: {:?}",
            start.elapsed()
        );
        assert!(!lives(&ended.stdout), "{} lives on", ended.stdout);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_limited() {
        assert_eq!(sh("ulimit -v", 10, 300).stdout, "307200\n");
    }
}
