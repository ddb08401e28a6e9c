//! Regular expressions, restricted to what an automaton can recognise.
//!
//! Supported are characters, `.`, classes (`[a-z]`, `[^"]`, `\d`, `\w`, `\s` and their opposites),
//! groups, `|`, the counts `*`, `+`, `?`, `{2}`, `{2,}` and `{2,5}`, and `^` and `$` at the ends of
//! the outermost alternatives. All of them mean the same as in ECMAScript, so `\d` is one of ten
//! digits. As in JSON Schema, a pattern without `^` and `$` may match anywhere in the string.
//! Lookaround and backreferences are refused with an error that names them.

use crate::nfa::{LAST, Nfa, TooLarge};

/// Maximum count in braces.
const MOST_COUNT: u32 = 1000;
/// Maximum nesting of groups.
const MOST_DEPTH: usize = 50;

type Ranges = Vec<(u32, u32)>;

/// A regular expression.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    Class(Ranges),
    Sequence(Vec<Pattern>),
    Either(Vec<Pattern>),
    Repeat(Box<Pattern>, u32, Option<u32>),
    Start,
    End,
}

impl Pattern {
    /// Parses a regular expression.
    ///
    /// # Errors
    /// If it is invalid or not supported. The message names the problem.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text.chars().collect(), at: 0, depth: 0 };
        let pattern = reader.either()?;
        match reader.peek() {
            None => Ok(pattern.anywhere()),
            Some(_) => Err("found \")\" without a \"(\" before it".to_owned()),
        }
        .and_then(|pattern| if pattern.has_anchor() { Err(anchor()) } else { Ok(pattern) })
    }

    /// Allows any text before and after a match, except at the ends where the pattern is anchored.
    fn anywhere(self) -> Self {
        let branches = match self {
            Self::Either(branches) => branches,
            one => vec![one],
        };
        let anything = || Self::Repeat(Box::new(Self::Class(vec![(0, LAST)])), 0, None);
        let open = |branch| {
            let mut parts = match branch {
                Self::Sequence(parts) => parts,
                one => vec![one],
            };
            let end = matches!(parts.last(), Some(Self::End));
            if end {
                parts.pop();
            }
            if matches!(parts.first(), Some(Self::Start)) {
                parts.remove(0);
            } else {
                parts.insert(0, anything());
            }
            if !end {
                parts.push(anything());
            }
            Self::Sequence(parts)
        };
        Self::Either(branches.into_iter().map(open).collect())
    }

    fn has_anchor(&self) -> bool {
        match self {
            Self::Class(_) => false,
            Self::Sequence(all) | Self::Either(all) => all.iter().any(Self::has_anchor),
            Self::Repeat(one, ..) => one.has_anchor(),
            Self::Start | Self::End => true,
        }
    }

    /// Adds the pattern to a graph, from state `from`. Returns the state at the pattern's end.
    ///
    /// # Errors
    /// If the graph becomes too large.
    pub(crate) fn add(&self, nfa: &mut Nfa, from: u32) -> Result<u32, TooLarge> {
        nfa.check()?;
        match self {
            Self::Class(ranges) => Ok(nfa.character(from, ranges)),
            Self::Sequence(all) => all.iter().try_fold(from, |from, one| one.add(nfa, from)),
            Self::Either(all) => {
                let to = nfa.spot();
                for one in all {
                    let end = one.add(nfa, from)?;
                    nfa.free(end, to);
                }
                Ok(to)
            }
            Self::Repeat(one, least, most) => {
                let mut at = from;
                for _ in 0..*least {
                    at = one.add(nfa, at)?;
                }
                let to = nfa.spot();
                if let Some(most) = most {
                    nfa.free(at, to);
                    for _ in *least..*most {
                        at = one.add(nfa, at)?;
                        nfa.free(at, to);
                    }
                } else {
                    let round = nfa.spot();
                    nfa.free(at, round);
                    let end = one.add(nfa, round)?;
                    nfa.free(end, round);
                    nfa.free(round, to);
                }
                Ok(to)
            }
            Self::Start | Self::End => unreachable!("anchors were removed"),
        }
    }
}

fn anchor() -> String {
    "\"^\" and \"$\" in the middle of a pattern are not supported".to_owned()
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(i, c)| self.rest.get(self.at + i) == Some(&c));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn either(&mut self) -> Result<Pattern, String> {
        let mut branches = vec![self.sequence()?];
        while self.eat("|") {
            branches.push(self.sequence()?);
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Pattern::Either(branches) })
    }

    fn sequence(&mut self) -> Result<Pattern, String> {
        let mut parts = Vec::new();
        while let Some(next) = self.peek().filter(|c| !matches!(c, '|' | ')')) {
            self.at += 1;
            let part = match next {
                '^' => Pattern::Start,
                '$' => Pattern::End,
                '(' => self.group()?,
                '[' => Pattern::Class(self.class()?),
                '.' => Pattern::Class(not(vec![(0xa, 0xa), (0xd, 0xd), (0x2028, 0x2029)])),
                '\\' => Pattern::Class(self.escape(false)?),
                '*' | '+' | '?' => {
                    return Err(format!("found {next:?}, expected something to repeat before it"));
                }
                '{' | '}' | ']' => {
                    return Err(format!("found {next:?}, expected \"\\{next}\" for the character"));
                }
                other => Pattern::Class(vec![(other.into(), other.into())]),
            };
            parts.push(self.counted(part)?);
        }
        Ok(Pattern::Sequence(parts))
    }

    fn group(&mut self) -> Result<Pattern, String> {
        if self.eat("?") && !self.eat(":") {
            let kind: String = self.rest[self.at..].iter().take(2).collect();
            let name = match kind.as_bytes() {
                [b'=' | b'!', ..] => "a look-ahead",
                [b'<', b'=' | b'!'] => "a look-behind",
                [b'<' | b'P', ..] => "a named group",
                _ => "this kind of group",
            };
            return Err(format!("\"(?{kind}\": {name} is not supported"));
        }
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(format!("found more than {MOST_DEPTH} nested groups"));
        }
        let inner = self.either()?;
        self.depth -= 1;
        if self.eat(")") { Ok(inner) } else { Err("expected \")\" at the end".to_owned()) }
    }

    /// Parses the count that may follow `part`, such as `*`, and returns `part` with that count.
    fn counted(&mut self, part: Pattern) -> Result<Pattern, String> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.at += 1;
                let counts = self.braces()?;
                self.at -= 1;
                counts
            }
            _ => return Ok(part),
        };
        self.at += 1;
        // A lazy count matches the same strings. It only tries them in another order.
        self.eat("?");
        if matches!(self.peek(), Some('*' | '+' | '?' | '{')) {
            return Err("found two quantifiers in a row; put the first and its operand in a group"
                .to_owned());
        }
        match part {
            Pattern::Start | Pattern::End => Err(anchor()),
            part => Ok(Pattern::Repeat(Box::new(part), least, most)),
        }
    }

    /// Parses `2}`, `2,}` or `2,5}`, including the closing brace.
    fn braces(&mut self) -> Result<(u32, Option<u32>), String> {
        let wrong = || "found \"{\", expected a count such as {2}, {2,} or {2,5}".to_owned();
        let least = self.number().ok_or_else(wrong)?;
        let most = if self.eat(",") { self.number() } else { Some(least) };
        if !self.eat("}") || most.is_some_and(|most| most < least) {
            return Err(wrong());
        }
        if least.max(most.unwrap_or(0)) > MOST_COUNT {
            return Err(format!("found a count above {MOST_COUNT}, which is not supported"));
        }
        Ok((least, most))
    }

    fn number(&mut self) -> Option<u32> {
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.rest[from..self.at].iter().collect();
        if digits.is_empty() { None } else { Some(digits.parse().unwrap_or(u32::MAX)) }
    }

    /// Parses the rest of a class, after its `[`.
    fn class(&mut self) -> Result<Ranges, String> {
        let wrong = || "expected \"]\" at the end of a class".to_owned();
        let negative = self.eat("^");
        let mut ranges = Vec::new();
        loop {
            let first = match self.take().ok_or_else(wrong)? {
                ']' => break,
                '\\' => self.escape(true)?,
                other => vec![(other.into(), other.into())],
            };
            let to_end = self.rest.get(self.at + 1) == Some(&']');
            if self.peek() == Some('-') && !to_end {
                self.at += 1;
                let last = match self.take().ok_or_else(wrong)? {
                    '\\' => self.escape(true)?,
                    other => vec![(other.into(), other.into())],
                };
                match (&first[..], &last[..]) {
                    (&[(a, b)], &[(c, d)]) if a == b && c == d && a <= c => ranges.push((a, c)),
                    _ => {
                        return Err(
                            "found \"-\" in a class, expected a range such as a-z".to_owned()
                        );
                    }
                }
            } else {
                ranges.extend(first);
            }
        }
        Ok(if negative { not(ranges) } else { ranges })
    }

    /// Parses the rest of an escape, after its backslash.
    fn escape(&mut self, in_class: bool) -> Result<Ranges, String> {
        let one = |c: char| Ok(vec![(u32::from(c), u32::from(c))]);
        let Some(next) = self.take() else {
            return Err("found \"\\\" at the end, expected a character after it".to_owned());
        };
        let digits = || vec![(0x30, 0x39)];
        let word = || vec![(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)];
        let space = || {
            let points = [0x20, 0xa0, 0x1680, 0x202f, 0x205f, 0x3000, 0xfeff];
            let mut ranges = vec![(0x9, 0xd), (0x2000, 0x200a), (0x2028, 0x2029)];
            ranges.extend(points.map(|point| (point, point)));
            ranges
        };
        match next {
            'd' => Ok(digits()),
            'D' => Ok(not(digits())),
            'w' => Ok(word()),
            'W' => Ok(not(word())),
            's' => Ok(space()),
            'S' => Ok(not(space())),
            'n' => one('\n'),
            'r' => one('\r'),
            't' => one('\t'),
            'f' => one('\x0c'),
            'v' => one('\x0b'),
            'b' if in_class => one('\x08'),
            'x' => self.hex(2),
            'u' => self.hex(4),
            'b' | 'B' => Err(format!("\"\\{next}\", a word boundary, is not supported")),
            'p' | 'P' => Err(format!("\"\\{next}\", a character property, is not supported")),
            'k' | '1'..='9' => Err(format!("\"\\{next}\", a back-reference, is not supported")),
            '0' => one('\0'),
            other if other.is_ascii_alphanumeric() => {
                Err(format!("\"\\{other}\" is not supported"))
            }
            other => one(other),
        }
    }

    fn hex(&mut self, count: usize) -> Result<Ranges, String> {
        let digits: String = self.rest[self.at..].iter().take(count).collect();
        let hex = digits.chars().count() == count && digits.chars().all(|c| c.is_ascii_hexdigit());
        match u32::from_str_radix(&digits, 16).ok().filter(|_| hex) {
            Some(point) if !(0xd800..0xe000).contains(&point) => {
                self.at += count;
                Ok(vec![(point, point)])
            }
            Some(_) => Err("half of a surrogate pair is not supported".to_owned()),
            None => Err(format!("expected {count} hexadecimal digits after the backslash")),
        }
    }
}

/// Returns all characters outside these ranges.
fn not(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let (mut others, mut next) = (Vec::new(), 0);
    for (first, last) in ranges {
        if next < first {
            others.push((next, first - 1));
        }
        next = next.max(last + 1);
    }
    if next <= LAST {
        others.push((next, LAST));
    }
    others
}
