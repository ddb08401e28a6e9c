//! The servers that are measured, each with suitable settings.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use super::{
    client::ask,
    load::{Load, Sizes},
};
use crate::process::target;

/// Time limit for a server to open its model.
const START: Duration = Duration::from_secs(120);

/// A running server. Dropping it ends the server.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts the reference's server, which cargo has built.
    pub(super) fn ours(
        root: &Path,
        model: &Path,
        threads: u16,
        places: u16,
        sizes: &Sizes,
    ) -> Result<Self> {
        let program = format!("tiny-llm-serve{}", std::env::consts::EXE_SUFFIX);
        let mut command = Command::new(target(root).join("release").join(program));
        // Pages for all slots, and as many again for remembered prompts.
        let pages = 2 * u32::from(places) * sizes.longest().div_ceil(32);
        command.arg("serve").arg("--model").arg(model).arg("--share-prefixes");
        command.args(["--pages", &pages.to_string(), "--max-batch", &places.to_string()]);
        command.args(["-c", &sizes.longest().to_string()]);
        Self::start("ours", command, threads, sizes)
    }

    /// Starts llama.cpp's server.
    pub(super) fn llama(
        name: &'static str,
        mut command: Command,
        model: &Path,
        threads: u16,
        places: u16,
        sizes: &Sizes,
    ) -> Result<Self> {
        let context = u32::from(places) * sizes.longest().next_multiple_of(256);
        command.arg("--model").arg(model).args(["--parallel", &places.to_string()]);
        command.args(["--ctx-size", &context.to_string(), "--flash-attn", "on", "--cont-batching"]);
        Self::start(name, command, threads, sizes)
    }

    fn start(
        name: &'static str,
        mut command: Command,
        threads: u16,
        sizes: &Sizes,
    ) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        command.args(["--threads", &threads.to_string(), "--host", "127.0.0.1"]);
        command.args(["--port", &address.port().to_string()]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| format!("{name} cannot be started"))?;
        let mut server = Self { name, address, child };
        let body = Load::Unrelated.body(sizes, u64::MAX, u64::MAX - 1).to_string();
        let start = Instant::now();
        // The first answer includes loading the weights into memory.
        while let Err(error) = ask(server.address, &body) {
            if server.child.try_wait()?.is_some() || start.elapsed() > START {
                bail!("{name} does not answer: {error:#}");
            }
            sleep(Duration::from_millis(200));
        }
        Ok(server)
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
