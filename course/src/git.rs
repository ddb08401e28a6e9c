//! The git commands of `cargo course update` and `diff`. None of them changes a branch, the index
//! or a file of the working tree.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context, Result, bail, ensure};

/// Runs git in `root` and returns its output. Does not run any program that the repository's
/// configuration names.
///
/// # Errors
/// If git is missing or fails. The error is git's message.
pub(crate) fn git(root: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = command(root, arguments).output().context("git cannot be started")?;
    if !output.status.success() {
        bail!(
            "`git {}` failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(output.stdout)
}

/// Like [`git`], but returns the output as text, without surrounding white space.
pub(crate) fn line(root: &Path, arguments: &[&str]) -> Result<String> {
    Ok(String::from_utf8_lossy(&git(root, arguments)?).trim().to_owned())
}

/// Merges `yours` and `newer`, which both come from `base`. Returns whether the merge is clean, and
/// the merged text. Three marker lines enclose the two sides of each conflict. A marker line begins
/// with `<`, `=` or `>`, repeated `mark` times.
pub(crate) fn merge(base: &str, yours: &str, newer: &str, mark: usize) -> Result<(bool, String)> {
    let size = format!("--marker-size={mark}");
    let merge = ["-c", "merge.conflictStyle=merge", "merge-file", "-p", "-q", &size];
    on_texts(&merge, &[("yours", yours), ("base", base), ("newer", newer)])
}

/// Returns the hunks of a unified diff, or an empty text if `old` and `new` are equal.
pub(crate) fn diff(old: &str, new: &str) -> Result<String> {
    let diff = ["diff", "--no-index", "--no-color", "--no-ext-diff", "--unified=3", "--"];
    let (_, shown) = on_texts(&diff, &[("old", old), ("new", new)])?;
    Ok(shown.find("@@").map_or_else(String::new, |hunks| shown[hunks..].to_owned()))
}

/// Writes `texts`, pairs of a name and a content, to a temporary folder and runs git on the files.
/// Returns whether git found neither a difference nor a conflict, and git's output.
fn on_texts(arguments: &[&str], texts: &[(&str, &str)]) -> Result<(bool, String)> {
    // A random name: a killed process may have left a folder behind, and another process may have
    // this process's number.
    let number = RandomState::new().build_hasher().finish();
    let folder = std::env::temp_dir().join(format!("course-{number:016x}"));
    let failed = || format!("failed to run git on temporary files in {}", folder.display());
    fs::create_dir(&folder).with_context(failed)?;
    let run = || -> Result<_> {
        for (name, text) in texts {
            fs::write(folder.join(name), text)?;
        }
        let names: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
        Ok(command(&folder, &[arguments, &names].concat()).output()?)
    };
    let output = run().with_context(failed);
    let _ = fs::remove_dir_all(&folder);
    let output = output?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code().is_some_and(|code| code < 128), "git failed: {}", said.trim());
    Ok((output.status.success(), String::from_utf8(output.stdout)?))
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    // Disables hooks and file watchers, which are programs named by a repository's configuration.
    command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]).args(arguments);
    command.current_dir(root).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command
}

/// Fetches the default branch of the remote `upstream`, or of `origin` if there is no `upstream`.
/// Returns the branch's name for messages, and its commit.
pub(crate) fn fetch(root: &Path) -> Result<(String, String)> {
    let remotes = line(root, &["remote"])?;
    let remote = ["upstream", "origin"]
        .into_iter()
        .find(|name| remotes.lines().any(|remote| remote == *name));
    let remote = remote.context(
        "found no git remote named upstream or origin; name a folder or a git ref of the newer course",
    )?;
    println!("Fetching {remote} …");
    git(root, &["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", remote, "HEAD"])?;
    Ok((
        format!("{remote}, default branch"),
        line(root, &["rev-parse", "--verify", "FETCH_HEAD^{commit}"])?,
    ))
}

/// Returns the ancestors of `commit` and `commit` itself, newest first.
pub(crate) fn history(root: &Path, commit: &str) -> Result<Vec<String>> {
    Ok(line(root, &["rev-list", "--end-of-options", commit])?.lines().map(str::to_owned).collect())
}

/// Returns the hash of each file in `commit`, by path.
///
/// # Errors
/// If the commit contains anything but plain files.
pub(crate) fn hashes(root: &Path, commit: &str) -> Result<BTreeMap<String, String>> {
    let listed = git(root, &["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit])?;
    let mut files = BTreeMap::new();
    for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let entry = str::from_utf8(entry).ok().context("a file's name is not UTF-8")?;
        let (about, path) =
            entry.split_once('\t').context("`git ls-tree` printed an unexpected line")?;
        let words: Vec<&str> = about.split(' ').collect();
        ensure!(
            words.len() == 3 && words[0].starts_with("100"),
            "{path} is not a regular file in {commit}"
        );
        files.insert(path.to_owned(), words[2].to_owned());
    }
    Ok(files)
}

/// Returns the content of each file in `commit`, by path.
pub(crate) fn files(root: &Path, commit: &str) -> Result<BTreeMap<String, Vec<u8>>> {
    let hashes = hashes(root, commit)?;
    let mut child = command(root, &["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let asked: Vec<String> =
        hashes.values().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let mut input = child.stdin.take().context("the standard input of `git cat-file` is closed")?;
    let lines = asked.iter().map(|hash| format!("{hash}\n")).collect::<String>();
    // Both pipes have limited buffers, so writing the requests must not wait for the responses.
    let asking = thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().context("the output of `git cat-file` cannot be read")?;
    ensure!(
        output.status.success() && asking.join().is_ok_and(|asked| asked.is_ok()),
        "`git cat-file` failed"
    );

    let (mut contents, mut rest) = (BTreeMap::new(), output.stdout.as_slice());
    for hash in asked {
        let end =
            rest.iter().position(|byte| *byte == b'\n').context("`git cat-file` ended early")?;
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let size = head.rsplit_once(' ').and_then(|(_, size)| size.parse::<usize>().ok());
        let size = size
            .filter(|size| rest.len() > end + 1 + size)
            .with_context(|| format!("`git cat-file` returned no content for {head}"))?;
        contents.insert(hash, rest[end + 1..end + 1 + size].to_owned());
        rest = &rest[end + 2 + size..];
    }
    Ok(hashes.into_iter().map(|(path, hash)| (path, contents[&hash].clone())).collect())
}
