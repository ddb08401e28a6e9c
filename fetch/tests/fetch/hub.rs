//! A small local hub with one repository, `owner/name`. It uses the protocol of huggingface.co, and
//! misbehaves as a test requests. Large files come from a second address.

#![allow(dead_code, reason = "each program that includes it uses a part")]

use std::{
    borrow::Cow,
    io::{BufRead, BufReader, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use sha2::{Digest, Sha256};

/// The commit of `main`.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A file of the repository.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) content: Arc<Vec<u8>>,
    /// Whether the file is large. If so, the hub states its SHA-256 and serves it from the second
    /// address.
    pub(crate) large: bool,
    /// The hash that the hub states.
    pub(crate) hash: String,
}

impl Stored {
    pub(crate) fn new(name: &str, content: Vec<u8>, large: bool) -> Self {
        let hash = if large {
            Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect()
        } else {
            let mut hash = sha1_smol::Sha1::from(format!("blob {}\0", content.len()));
            hash.update(&content);
            hash.digest().to_string()
        };
        Self { name: name.to_owned(), content: Arc::new(content), large, hash }
    }
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The list of files.
    Listing,
    /// A file's hash and length.
    Head,
    /// A file at the hub's address.
    Get,
    /// A file at the second address.
    Content,
}

/// A request that the hub has received.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) kind: Kind,
    pub(crate) file: String,
    pub(crate) from: Option<usize>,
    pub(crate) token: Option<String>,
    /// Number of earlier requests of this kind.
    pub(crate) number: usize,
}

/// How the hub handles a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Answers correctly.
    Serve,
    /// Refuses with a status and, unless it is empty, an error code.
    Refuse(u16, &'static str),
    /// Redirects. `@hub` and `@content` represent the hub's two addresses.
    Redirect(&'static str),
    /// Sends this text in place of an HTTP response.
    Raw(&'static str),
    /// Replaces a header, or removes it if the value is empty.
    Header(&'static str, &'static str),
    /// Replaces the body, and states its length.
    Body(&'static str),
    /// Ends the connection after this many bytes of the body.
    Cut(usize),
    /// Sends nothing more after this many bytes of the body.
    Stall(usize),
    /// Sends nothing at all.
    Silence,
    /// Changes the byte at this position.
    Spoil(usize),
    /// Sends the file without a length, followed by this text.
    Unstated(&'static str),
    /// Sends the file from its first byte, whatever range was requested.
    IgnoreRange,
    /// Pauses after every 64 kB.
    Slow(Duration),
}

type Behave = Box<dyn Fn(&Asked) -> Act + Send + Sync>;

struct State {
    hub: SocketAddr,
    content: SocketAddr,
    files: Vec<Stored>,
    behave: Behave,
    asked: Mutex<Vec<Asked>>,
    stopped: AtomicBool,
}

/// A running hub. Dropping it ends the hub.
pub(crate) struct Hub(Arc<State>);

impl Hub {
    /// Starts a hub with these files. `behave` returns how the hub handles a request.
    pub(crate) fn start(
        files: Vec<Stored>,
        behave: impl Fn(&Asked) -> Act + Send + Sync + 'static,
    ) -> Self {
        Self::start_at(0, files, behave)
    }

    /// Like [`Hub::start`], but listens at `port`. If `port` is 0, listens at a free port.
    pub(crate) fn start_at(
        port: u16,
        files: Vec<Stored>,
        behave: impl Fn(&Asked) -> Act + Send + Sync + 'static,
    ) -> Self {
        let hub = TcpListener::bind(("127.0.0.1", port)).expect("a port");
        let content = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = |listener: &TcpListener| listener.local_addr().expect("an address");
        let state = Arc::new(State {
            hub: address(&hub),
            content: address(&content),
            files,
            behave: Box::new(behave),
            asked: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        for listener in [hub, content] {
            let state = Arc::clone(&state);
            thread::spawn(move || {
                for stream in listener.incoming() {
                    if state.stopped.load(Ordering::SeqCst) {
                        break;
                    }
                    let state = Arc::clone(&state);
                    // A client that disconnects ends only its own connection.
                    thread::spawn(move || stream.and_then(|stream| state.answer(stream)));
                }
            });
        }
        Self(state)
    }

    /// Returns the address for `HF_ENDPOINT`.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.0.hub)
    }

    /// Returns all requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.0.asked.lock().expect("no panic").clone()
    }

    /// Returns the requests of one kind for one file.
    pub(crate) fn asked_for(&self, kind: Kind, file: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|a| a.kind == kind && a.file == file).collect()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        for address in [self.0.hub, self.0.content] {
            let _ = TcpStream::connect(address);
        }
    }
}

/// An answer that is being prepared.
struct Answer<'a> {
    status: u16,
    headers: Vec<(String, String)>,
    /// Files are borrowed: a copy of a large one would delay its first byte.
    body: Cow<'a, [u8]>,
}

impl Answer<'_> {
    fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }
}

impl State {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
        let mut headers = Vec::new();
        for line in lines {
            match line?.split_once(':') {
                Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
                None => break,
            }
        }
        let header = |name: &str| {
            headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
        };
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let path = path.split('?').next().unwrap_or("").to_owned();
        let (kind, file) = self.kind(&stream, method, &path);
        let from = header("range")
            .and_then(|range| range.strip_prefix("bytes=")?.split('-').next()?.parse().ok());
        let asked = {
            let mut all = self.asked.lock().expect("no panic");
            let number = all.iter().filter(|asked| asked.kind == kind).count();
            all.push(Asked { kind, file, from, token: header("authorization"), number });
            all.last().expect("just added").clone()
        };
        let act = (self.behave)(&asked);
        if matches!(act, Act::Silence) {
            return self.wait();
        }
        if let Act::Raw(text) = act {
            return stream.write_all(text.as_bytes());
        }
        let from = asked.from.filter(|_| !matches!(act, Act::IgnoreRange));
        let mut answer = self.good(&path, kind, &asked.file, from);
        let mut end = usize::MAX;
        match act {
            Act::Refuse(status, code) => {
                answer = Answer { status, headers: Vec::new(), body: b"refused".into() };
                answer.set("x-error-code", code);
                answer.set("content-length", "7");
            }
            Act::Redirect(to) => {
                let to = to.replace("@hub", &self.hub.to_string());
                let to = to.replace("@content", &self.content.to_string());
                answer = Answer { status: 302, headers: Vec::new(), body: Cow::default() };
                answer.set("location", &to);
                answer.set("content-length", "0");
            }
            Act::Header(name, value) => answer.set(name, value),
            Act::Body(text) => {
                answer.body = text.as_bytes().into();
                answer.set("content-length", &text.len().to_string());
            }
            Act::Cut(bytes) | Act::Stall(bytes) => end = bytes,
            Act::Spoil(at) if at < answer.body.len() => answer.body.to_mut()[at] ^= 1,
            Act::Unstated(more) => {
                answer.set("content-length", "");
                answer.body.to_mut().extend(more.as_bytes());
            }
            _ => (),
        }
        let mut head = format!("HTTP/1.1 {} Answer\r\nconnection: close\r\n", answer.status);
        for (name, value) in &answer.headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        if method == "HEAD" {
            return Ok(());
        }
        let body = &answer.body[..end.min(answer.body.len())];
        match act {
            Act::Slow(pause) => {
                for piece in body.chunks(1 << 16) {
                    stream.write_all(piece)?;
                    thread::sleep(pause);
                }
            }
            _ => stream.write_all(body)?,
        }
        if let Act::Stall(_) = act {
            self.wait()?;
        }
        stream.shutdown(Shutdown::Write)
    }

    /// Keeps a connection open without sending anything.
    fn wait(&self) -> std::io::Result<()> {
        for _ in 0..200 {
            if self.stopped.load(Ordering::SeqCst) {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn kind(&self, stream: &TcpStream, method: &str, path: &str) -> (Kind, String) {
        if stream.local_addr().ok() == Some(self.content) {
            return (Kind::Content, self.name_of(path.trim_start_matches('/')));
        }
        match path.split_once(&format!("/resolve/{COMMIT}/")).or(path.split_once("/resolve/main/"))
        {
            None => (Kind::Listing, String::new()),
            Some((_, file)) if method == "HEAD" => (Kind::Head, file.to_owned()),
            Some((_, file)) => (Kind::Get, file.to_owned()),
        }
    }

    /// Returns the name of the file with this hash.
    fn name_of(&self, hash: &str) -> String {
        let found = self.files.iter().find(|file| file.large && file.hash == hash);
        found.map_or_else(|| hash.to_owned(), |file| file.name.clone())
    }

    /// Returns the correct answer to a request.
    fn good(&self, path: &str, kind: Kind, file: &str, from: Option<usize>) -> Answer<'_> {
        let mut answer = Answer { status: 200, headers: Vec::new(), body: Cow::default() };
        if kind == Kind::Listing {
            answer.body = if path.starts_with(&format!("/api/models/owner/name/tree/{COMMIT}")) {
                self.tree().into_bytes().into()
            } else if path.starts_with("/api/models/owner/name") {
                self.listing().into_bytes().into()
            } else {
                answer.status = 404;
                answer.set("x-error-code", "RepoNotFound");
                b"{}".into()
            };
            answer.set("content-type", "application/json");
            let length = answer.body.len();
            answer.set("content-length", &length.to_string());
            return answer;
        }
        answer.set("x-repo-commit", COMMIT);
        let Some(stored) = self.files.iter().find(|stored| stored.name == file) else {
            answer.status = 404;
            answer.set("x-error-code", "EntryNotFound");
            answer.set("content-length", "0");
            return answer;
        };
        let (hash, size) = (&stored.hash, stored.content.len());
        if stored.large && kind != Kind::Content {
            answer.status = 302;
            answer.set("x-linked-etag", &format!("\"{hash}\""));
            answer.set("x-linked-size", &size.to_string());
            answer.set("location", &format!("http://{}/{hash}", self.content));
            answer.set("content-length", "0");
            return answer;
        }
        answer.set("etag", &format!("\"{hash}\""));
        let from = from.unwrap_or(0);
        if from >= size && from > 0 {
            answer.status = 416;
            answer.set("content-length", "0");
            return answer;
        }
        if from > 0 {
            answer.status = 206;
            answer.set("content-range", &format!("bytes {from}-{}/{size}", size - 1));
        }
        answer.set("content-length", &(size - from).to_string());
        if kind != Kind::Head {
            answer.body = stored.content[from..].into();
        }
        answer
    }

    fn listing(&self) -> String {
        let name = |file: &Stored| format!("{{\"rfilename\": \"{}\"}}", file.name);
        let names: Vec<String> = self.files.iter().map(name).collect();
        format!(
            "{{\"id\": \"owner/name\", \"modelId\": \"owner/name\", \"sha\": \"{COMMIT}\", \
             \"siblings\": [{}]}}",
            names.join(", ")
        )
    }

    fn tree(&self) -> String {
        let entry = |file: &Stored| {
            let (hash, size) = (&file.hash, file.content.len());
            let large = format!(
                ", \"lfs\": {{\"oid\": \"{hash}\", \"size\": {size}, \"pointerSize\": 134}}"
            );
            let (oid, large) =
                if file.large { (&hash[..40], large) } else { (&hash[..], String::new()) };
            let name = &file.name;
            format!(
                "{{\"type\": \"file\", \"path\": \"{name}\", \"size\": {size}, \"oid\": \"{oid}\"{large}}}"
            )
        };
        let entries: Vec<String> = self.files.iter().map(entry).collect();
        format!("[{}]", entries.join(", "))
    }
}
