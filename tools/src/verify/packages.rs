//! `.venv`: the packages that pyproject.toml pins, with a PyTorch without GPU libraries if
//! available.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::context::succeeds;
use crate::environment::{self, Venv};

/// PyTorch's own index of builds without GPU libraries. PyPI has such builds for macOS and Windows,
/// but not for Linux.
const CPU_INDEX: &str = "https://download.pytorch.org/whl/cpu";

const FROM_CPU_INDEX: &str = "\
PyTorch first, without GPU libraries: a download of about 200 MB from download.pytorch.org.";

/// Script that installs PyPI's build without its GPU libraries.
const TORCH_ON_CPU: &str = "python-ref/torch_on_cpu.py";

const FROM_PYPI: &str = "\
That index cannot be reached, or has no matching build. So PyTorch comes from PyPI. Its GPU
libraries are left out: a download of 540 MB, and 1.2 GB on the disk.";

const WITH_GPU_LIBRARIES: &str = "\
That failed, because the installation needs a C compiler and readelf. So PyTorch's GPU libraries
are installed too: a download of 3.1 GB, and 5.8 GB on the disk.
To stop, press Ctrl-C; `--no-python` skips this.";

const THE_REST: &str = "Now the other packages, about 110 MB.";

/// Creates `.venv`, or uses an existing one for the same packages. Returns its interpreter, and
/// what was done.
///
/// # Errors
/// If there is no Python that is new enough, or a package cannot be installed.
pub(super) fn make(root: &Path) -> Result<(PathBuf, String), String> {
    let venv = Venv::of(root).map_err(|error| format!("{error:#}"))?;
    if venv.is_current() {
        return Ok((venv.python, "already installed".to_owned()));
    }
    println!(
        "Creating .venv with the packages that pyproject.toml pins. `cargo course verify \
         --no-python` skips this."
    );
    // This changes nothing in a complete environment, and repairs one whose creation was
    // interrupted.
    let mut make = environment::python()?.command();
    make.args(["-m", "venv"]).arg(&venv.folder).current_dir(root);
    succeeds(&mut make).map_err(|error| {
        format!("{error:#}; on Debian and Ubuntu: `sudo apt install python3-venv`")
    })?;
    let from = install(&venv, root)?;
    fs::write(&venv.stamp, venv.packages.join("\n"))
        .map_err(|error| format!("{}: {error}", venv.stamp.display()))?;
    Ok((venv.python, format!("{} packages installed{from}", venv.packages.len())))
}

/// Installs the packages. Returns the origin of PyTorch, for the final table.
fn install(venv: &Venv, root: &Path) -> Result<&'static str, String> {
    let mut from = "";
    let mut rest = venv.packages.clone();
    if cfg!(target_os = "linux") {
        println!("{FROM_CPU_INDEX}");
        if succeeds(&mut cpu_torch(venv, root)).is_ok() {
            // An installed `torch==2.0+cpu` satisfies the pinned `torch==2.0`, so it is kept.
            from = ", PyTorch without GPU libraries";
            println!("{THE_REST}");
        } else {
            println!("{FROM_PYPI}");
            if succeeds(&mut pypi_torch(venv, root)).is_ok() {
                // Naming PyTorch again would install its GPU libraries.
                rest.retain(|package| !is_torch(package));
                from = ", PyTorch from PyPI without GPU libraries";
                println!("{THE_REST}");
            } else {
                from = ", PyTorch from PyPI";
                println!("{WITH_GPU_LIBRARIES}");
            }
        }
    }
    succeeds(pip(venv, root).args(&rest))
        .map_err(|error| format!("the packages could not be installed: {error:#}"))?;
    Ok(from)
}

fn is_torch(package: &str) -> bool {
    package.starts_with("torch==")
}

fn pypi_torch(venv: &Venv, root: &Path) -> Command {
    let mut command = Command::new(&venv.python);
    command.arg(TORCH_ON_CPU).args(venv.packages.iter().filter(|package| is_torch(package)));
    command.current_dir(root);
    command
}

/// Returns a command that installs only PyTorch, from its own index. The index also has copies of
/// other packages, which must come from PyPI.
fn cpu_torch(venv: &Venv, root: &Path) -> Command {
    let mut pip = pip(venv, root);
    // If the index cannot be reached, retry only once.
    pip.args(["--no-deps", "--retries", "1", "--timeout", "20", "--index-url", CPU_INDEX]);
    pip.args(venv.packages.iter().filter(|package| is_torch(package)));
    pip
}

fn pip(venv: &Venv, root: &Path) -> Command {
    let mut pip = Command::new(&venv.python);
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]);
    // Python compiles modules when they are first imported, and most of these are never imported.
    pip.arg("--no-compile");
    pip.current_dir(root);
    pip
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pyproject.toml` pins one PyTorch for each Python, and only these packages come from
    /// PyTorch's index.
    #[test]
    fn only_torch_comes_from_its_index() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let venv = Venv::of(root).unwrap();
        let command = cpu_torch(&venv, root);
        let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        let at = words.iter().position(|word| *word == CPU_INDEX).unwrap();
        assert_eq!(words[at - 1], "--index-url");
        assert!(words.contains(&"--no-deps"));
        assert_eq!(words.len() - at - 1, 2, "{words:?}");
        assert!(words[at + 1..].iter().all(|word| word.starts_with("torch==")), "{words:?}");
    }
}
