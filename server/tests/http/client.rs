//! A client that sends exactly the given bytes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::Json;

/// A response of the server, with its chunks joined.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Json {
        self.body.parse().unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Returns the data of each server-sent event in the body.
    pub(crate) fn events(&self) -> Vec<String> {
        let events = self.body.split_terminator("\n\n");
        events.map(|event| event.strip_prefix("data: ").expect("an event").to_owned()).collect()
    }

    /// Checks that the answer is an error in OpenAI's format with the given status, field and code.
    #[track_caller]
    pub(crate) fn is_error(&self, status: u16, param: Option<&str>, code: Option<&str>) {
        assert_eq!(self.status, status, "{self:?}");
        let json = self.json();
        let error = &json["error"];
        assert_eq!(json.as_object().expect("an object").len(), 1, "{self:?}");
        assert_eq!(error.as_object().expect("an object").len(), 4, "{self:?}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{self:?}");
        assert!(error["type"].is_string(), "{self:?}");
        assert_eq!(error["param"].as_str(), param, "{self:?}");
        assert_eq!(error["code"].as_str(), code, "{self:?}");
        if let Some(param) = param {
            assert!(error["message"].as_str().is_some_and(|text| text.contains(param)), "{self:?}");
        }
    }
}

/// A connection to the server.
pub(crate) struct Connection {
    pub(crate) stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        // A test must not hang. No operation takes this long.
        stream.set_read_timeout(Some(Duration::from_secs(600))).expect("a timeout");
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("it is taken");
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) {
        self.send(post(path, body, "").as_bytes());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Reads the status and the headers of an answer.
    pub(crate) fn head(&mut self) -> Answer {
        let line = self.line();
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("a status: {line:?}"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        Answer { status, headers, body: String::new() }
    }

    /// Reads the next chunk of an answer's body. Returns `None` after the last chunk.
    pub(crate) fn chunk(&mut self) -> Option<String> {
        let line = self.line();
        let length = usize::from_str_radix(&line, 16).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        let mut bytes = vec![0; length + 2];
        self.stream.read_exact(&mut bytes).expect("a chunk");
        bytes.truncate(length);
        (length > 0).then(|| String::from_utf8(bytes).expect("text"))
    }

    /// Reads a complete answer. The connection stays open.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        if let Some(length) = answer.header("content-length") {
            let mut bytes = vec![0; length.parse().expect("a length")];
            self.stream.read_exact(&mut bytes).expect("a body");
            answer.body = String::from_utf8(bytes).expect("text");
        } else if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                answer.body += &chunk;
            }
        }
        answer
    }

    /// Returns whether the server closes the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// Returns the text of a POST request. `headers` are further lines of its header.
pub(crate) fn post(path: &str, body: &str, headers: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Returns the object `base` with the fields of `more` added or replaced.
pub(crate) fn with(base: &Json, more: &Json) -> Json {
    let mut body = base.clone();
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

/// Sends a POST request on a new connection, and returns the answer.
pub(crate) fn ask(address: SocketAddr, path: &str, body: &Json) -> Answer {
    let mut connection = Connection::open(address);
    connection.post(path, &body.to_string());
    connection.answer()
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Answer {
    let mut connection = Connection::open(address);
    connection.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes());
    connection.answer()
}

/// Returns the value of the metric `name`, as the server reports it.
pub(crate) fn metric(address: SocketAddr, name: &str) -> f64 {
    let text = get(address, "/metrics").body;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} in\n{text}")).parse().expect("a number")
}
