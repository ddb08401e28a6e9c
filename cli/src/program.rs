//! Programs that use the network. They are built only when they are used.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Result, anyhow};

/// Builds a program of this repository if necessary, and runs it with `arguments`. `build` are the
/// options of cargo that select the program. On Unix, the program replaces this process. On other
/// systems, returns the program's exit code.
pub(super) fn become_program(
    build: &[&str],
    arguments: impl Iterator<Item = OsString>,
) -> Result<ExitCode> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest = here.parent().unwrap_or(&here).join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--release", "--config", "term.progress.when='always'"])
        .args(["--config", "term.progress.width=80"])
        .args(build)
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--")
        .args(arguments);
    let failed = |e: std::io::Error| {
        anyhow!(
            "this program was built without the server and the downloader, and it cannot start \
             cargo to build them: {e}"
        )
    };
    // On Unix, the program replaces this process, so that it receives the signals.
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(failed(command.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
    }
}
