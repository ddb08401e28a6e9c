//! Nondeterministic automata over bytes, called graphs here. A set of texts is first described by
//! such a graph, which `dfa` converts to a deterministic automaton.

use regex_syntax::utf8::Utf8Sequences;

use crate::json::Json;

/// Maximum number of states in a graph.
const MOST_PLACES: usize = 50_000;

/// The last Unicode character.
pub(crate) const LAST: u32 = 0x10_ffff;

/// A state and its edges.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spot {
    /// Edges: the first and the last byte that they read, and the next state.
    pub(crate) edges: Vec<(u8, u8, u32)>,
    /// States that are reached without reading a byte.
    pub(crate) free: Vec<u32>,
    /// The tag of a text that ends at this state. `None` if no text may end here.
    pub(crate) tag: Option<u32>,
    /// Whether a character of a string has just ended. Only [`Nfa::character`] sets this.
    pub(crate) between: bool,
}

/// Error: an automaton has too many states, or takes too much work to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// A graph. Each function that adds paths takes the state at their start as `from`, and returns the
/// state at their end.
#[derive(Debug)]
pub(crate) struct Nfa {
    pub(crate) spots: Vec<Spot>,
}

impl Nfa {
    /// Creates a graph with one state, the start.
    pub(crate) fn new() -> Self {
        Self { spots: vec![Spot::default()] }
    }

    /// Adds a state.
    pub(crate) fn spot(&mut self) -> u32 {
        self.spots.push(Spot::default());
        (self.spots.len() - 1) as u32
    }

    /// Checks the number of states.
    ///
    /// # Errors
    /// If there are too many states.
    pub(crate) fn check(&self) -> Result<(), TooLarge> {
        if self.spots.len() > MOST_PLACES { Err(TooLarge) } else { Ok(()) }
    }

    /// Adds an edge that reads no byte.
    pub(crate) fn free(&mut self, from: u32, to: u32) {
        self.spots[from as usize].free.push(to);
    }

    /// Adds an edge for a range of bytes.
    pub(crate) fn edge(&mut self, from: u32, (first, last): (u8, u8), to: u32) {
        self.spots[from as usize].edges.push((first, last, to));
    }

    /// Adds a path that reads these bytes.
    pub(crate) fn literal(&mut self, from: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(from, |from, &byte| {
            let to = self.spot();
            self.edge(from, (byte, byte), to);
            to
        })
    }

    /// Adds the paths that read a value as it may occur in answers: with an optional space after
    /// each comma and colon.
    pub(crate) fn value(&mut self, from: u32, value: &Json) -> u32 {
        match value {
            Json::List(all) => {
                let mut at = self.literal(from, b"[");
                for (i, value) in all.iter().enumerate() {
                    at = if i == 0 { at } else { self.mark(at, b',') };
                    at = self.value(at, value);
                }
                self.literal(at, b"]")
            }
            Json::Object(fields) => {
                let mut at = self.literal(from, b"{");
                for (i, (key, value)) in fields.iter().enumerate() {
                    at = if i == 0 { at } else { self.mark(at, b',') };
                    at = self.literal(at, spelled(key).as_bytes());
                    at = self.mark(at, b':');
                    at = self.value(at, value);
                }
                self.literal(at, b"}")
            }
            Json::Number(number) => {
                // 1.0 and 1 are the same number.
                let whole = number.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 1e15);
                let text = whole.map_or_else(|| number.to_string(), |x| format!("{}", x as i64));
                self.literal(from, text.as_bytes())
            }
            other => self.literal(from, other.to_string().as_bytes()),
        }
    }

    /// Adds a path that reads a comma or a colon (`byte`) and an optional space.
    fn mark(&mut self, from: u32, byte: u8) -> u32 {
        let at = self.literal(from, &[byte]);
        let behind = self.literal(at, b" ");
        self.free(at, behind);
        behind
    }

    /// Adds paths that read a character in `ranges` (inclusive), in JSON's shortest spelling.
    pub(crate) fn character(&mut self, from: u32, ranges: &[(u32, u32)]) -> u32 {
        let to = self.spot();
        self.spots[to as usize].between = true;
        for &(first, last) in ranges {
            self.plain(from, (first, last.min(0x1f)), to);
            self.plain(from, (first.max(0x20), last), to);
        }
        to
    }

    /// Adds paths that read a character of a range. Characters that need escapes are added singly.
    fn plain(&mut self, from: u32, (mut first, last): (u32, u32), to: u32) {
        while first <= last {
            let escaped = |c: u32| c < 0x20 || c == 0x22 || c == 0x5c;
            if escaped(first) {
                let letter = char::from(first as u8);
                let text = spelled(&letter.to_string());
                let inner = &text.as_bytes()[1..text.len() - 1];
                let at = self.literal(from, &inner[..inner.len() - 1]);
                let byte = inner[inner.len() - 1];
                self.edge(at, (byte, byte), to);
                first += 1;
                continue;
            }
            let end = [0x21, 0x5b].into_iter().find(|&end| first <= end && end < last);
            let end = end.unwrap_or(last);
            // Surrogates are not characters.
            let low = if (0xd800..0xe000).contains(&first) { 0xe000 } else { first };
            let high = if (0xd800..0xe000).contains(&end) { 0xd7ff } else { end };
            if let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
                && low <= high
            {
                for sequence in Utf8Sequences::new(low, high) {
                    let (last, before) = sequence.as_slice().split_last().expect("a byte");
                    let mut at = from;
                    for range in before {
                        let next = self.spot();
                        self.edge(at, (range.start, range.end), next);
                        at = next;
                    }
                    self.edge(at, (last.start, last.end), to);
                }
            }
            first = end + 1;
        }
    }

    /// Adds paths that read any one character in any of JSON's spellings.
    pub(crate) fn any_spelling(&mut self, from: u32) -> u32 {
        let to = self.spot();
        for range in [(0x20, 0x21), (0x23, 0x5b), (0x5d, LAST)] {
            self.plain(from, range, to);
        }
        let escape = self.literal(from, b"\\");
        for &byte in b"\"\\/bfnrt" {
            self.edge(escape, (byte, byte), to);
        }
        const HEX: &[(u8, u8)] = &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')];
        const D: &[(u8, u8)] = &[(b'D', b'D'), (b'd', b'd')];
        const LOW: &[(u8, u8)] = &[(b'0', b'7')];
        const HIGH: &[(u8, u8)] = &[(b'8', b'9'), (b'A', b'B'), (b'a', b'b')];
        const SECOND: &[(u8, u8)] = &[(b'C', b'F'), (b'c', b'f')];
        const NOT_D: &[(u8, u8)] =
            &[(b'0', b'9'), (b'A', b'C'), (b'a', b'c'), (b'E', b'F'), (b'e', b'f')];
        let (slash, u) = (&[(b'\\', b'\\')][..], &[(b'u', b'u')][..]);
        for sets in [
            &[NOT_D, HEX, HEX, HEX][..],
            &[D, LOW, HEX, HEX],
            &[D, HIGH, HEX, HEX, slash, u, D, SECOND, HEX, HEX],
        ] {
            let mut at = self.literal(escape, b"u");
            for (i, set) in sets.iter().enumerate() {
                let next = if i + 1 == sets.len() { to } else { self.spot() };
                for &range in *set {
                    self.edge(at, range, next);
                }
                at = next;
            }
        }
        to
    }
}

/// Returns a string in JSON's shortest spelling.
pub(crate) fn spelled(text: &str) -> String {
    serde_json::to_string(text).expect("a string can be written")
}
