//! A static file server for one local client, and a watcher for changed files.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Component, Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result};

/// Serves `folder` on 127.0.0.1 until the process ends. Runs `meanwhile` concurrently.
pub(crate) fn serve(folder: &Path, port: u16, meanwhile: impl FnOnce() + Send) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .with_context(|| format!("port {port} is taken: choose another with --port"))?;
    println!("the book is at http://{} (Ctrl-C ends)", listener.local_addr()?);
    thread::scope(|scope| {
        scope.spawn(meanwhile);
        for stream in listener.incoming().flatten() {
            // A client that disconnects does not stop the server.
            scope.spawn(|| answer(stream, folder).ok());
        }
    });
    Ok(())
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut request = String::new();
    BufReader::new(&stream).read_line(&mut request)?;
    let mut words = request.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or("/"));
    let (status, kind, body) = if !["GET", "HEAD"].contains(&method) {
        ("405 Method Not Allowed", "text/plain", b"only GET and HEAD".to_vec())
    } else if let Some((file, body)) =
        file_of(folder, target).and_then(|file| fs::read(&file).ok().map(|body| (file, body)))
    {
        ("200 OK", content_type(&file), body)
    } else {
        (
            "404 Not Found",
            "text/html; charset=utf-8",
            fs::read(folder.join("404.html")).unwrap_or_default(),
        )
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\n\
         Content-Type: {kind}\r\n\
         Content-Length: {}\r\n\
         Cache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        body.len()
    )?;
    if method != "HEAD" {
        stream.write_all(&body)?;
    }
    Ok(())
}

/// Returns the file that a request names, if it is in `folder`.
fn file_of(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = decode(target.split(['?', '#']).next()?)?;
    let relative = Path::new(path.trim_start_matches('/'));
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let file = folder.join(relative);
    Some(if file.is_dir() { file.join("index.html") } else { file })
}

/// Decodes percent-encoding.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// Calls `changed` whenever a file in one of `folders`, but not in `except`, was written. Never
/// returns.
pub(crate) fn watch(folders: &[PathBuf], except: &Path, changed: impl Fn()) {
    let mut seen = newest(folders, except);
    loop {
        thread::sleep(Duration::from_millis(500));
        let now = newest(folders, except);
        if now != seen {
            seen = now;
            changed();
        }
    }
}

/// Returns the time at which the newest file was written, and the number of files.
fn newest(folders: &[PathBuf], except: &Path) -> (Option<SystemTime>, usize) {
    let mut newest = (None, 0);
    let mut open: Vec<PathBuf> = folders.to_vec();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path == except {
                continue;
            }
            match entry.metadata() {
                Ok(about) if about.is_dir() => open.push(path),
                Ok(about) => newest = (newest.0.max(about.modified().ok()), newest.1 + 1),
                Err(_) => {}
            }
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_paths_outside_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("week1")).unwrap();
        assert_eq!(
            file_of(folder.path(), "/week1/?q=1").unwrap(),
            folder.path().join("week1/index.html")
        );
        assert_eq!(file_of(folder.path(), "/a%20b.svg").unwrap(), folder.path().join("a b.svg"));
        for outside in ["/../secret", "/week1/../../secret", "/%2e%2e/secret", "/%zz"] {
            assert_eq!(file_of(folder.path(), outside), None, "{outside}");
        }
    }
}
