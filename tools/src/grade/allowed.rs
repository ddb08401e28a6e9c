//! What a submission's text may say, judged token by token before anything is built.
//!
//! A task needs arithmetic, collections, threads. It needs no files, no network, no processes, no
//! assembly, no text of other files, and few attributes. Whatever else stands in a submission, in a
//! macro too, is named with its line, and the submission earns nothing until an instructor has
//! looked at it.
//!
//! The compiler is then given what was read here and not what was handed in: the same tokens at the
//! same places, without comments. So it does not matter whether it would have taken the file's text
//! for the same tokens.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    str::FromStr,
};

use proc_macro2::{Delimiter, Group, LineColumn, Spacing, TokenStream, TokenTree};

/// Macros of the standard library and of the course's libraries. A submission's own are allowed
/// too, and looked at more strictly.
const MACROS: [&str; 38] = [
    "anyhow",
    "array",
    "assert",
    "assert_eq",
    "assert_ne",
    "azip",
    "bail",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "ensure",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "is_aarch64_feature_detected",
    "is_x86_feature_detected",
    "line",
    "matches",
    "module_path",
    "panic",
    "print",
    "println",
    "s",
    "stringify",
    "thread_local",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Attributes, by the first word of their path.
const ATTRIBUTES: [&str; 22] = [
    "allow",
    "cfg",
    "clippy",
    "cold",
    "default",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "non_exhaustive",
    "repr",
    "rustfmt",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "type_length_limit",
    "warn",
];

/// Words that no task needs, wherever they stand.
const NOWHERE: [&str; 22] = [
    "asm",
    "extern",
    "export_name",
    "global_allocator",
    "global_asm",
    "include",
    "include_bytes",
    "include_str",
    "link_section",
    "macro_export",
    "naked_asm",
    "no_mangle",
    "option_env",
    "proc_macro",
    "set_hook",
    "stderr",
    "stdin",
    "stdout",
    "tiny_llm_cli",
    "tiny_llm_harness",
    "tiny_llm_reference",
    "tiny_llm_server",
];

/// Modules that no task needs: not in a path, not in a `use`, and not in a macro at all, which may
/// make a path of its parts. Elsewhere they are names like others: `let net = …`.
const MODULES: [&str; 8] = ["env", "ffi", "fs", "intrinsics", "net", "os", "process", "unix"];

/// What may stand before a `!` that negates.
const KEYWORDS: [&str; 13] = [
    "as", "await", "break", "const", "else", "if", "in", "let", "match", "move", "mut", "return",
    "while",
];

/// How deep brackets may nest.
const DEPTH: usize = 200;

/// A file as it is compiled, and what an instructor must look at.
#[derive(Debug)]
pub(super) struct Read {
    /// Its tokens at their places.
    pub(super) code: String,
    /// `src/week1/a.rs:12: fs`, in the file's order.
    pub(super) flags: Vec<String>,
}

/// The names of the macros that these texts define.
pub(super) fn own_macros<'a>(texts: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    fn find(tokens: TokenStream, names: &mut BTreeSet<String>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (i, token) in tokens.iter().enumerate() {
            if let TokenTree::Group(group) = token {
                find(group.stream(), names);
            } else if word(Some(token)) == "macro_rules" {
                names.insert(word(tokens.get(i + 2)));
            }
        }
    }
    let mut names = BTreeSet::new();
    for tokens in texts.filter_map(|text| tokens(text).ok()) {
        find(tokens, &mut names);
    }
    names
}

/// A file's tokens, or why there are none.
fn tokens(text: &str) -> Result<TokenStream, &'static str> {
    let (mut depth, mut deepest) = (0_usize, 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > DEPTH {
        return Err("brackets nest too deep to be read");
    }
    let read = TokenStream::from_str(text);
    read.map_err(|_| "it is not Rust: a bracket, a string or a comment does not end")
}

/// Reads a file. What stands on a line that the file's `stub` has too is the course's own, and is
/// not flagged.
pub(super) fn read(path: &str, text: &str, stub: &str, own_macros: &BTreeSet<String>) -> Read {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let tokens = match tokens(&text) {
        Ok(tokens) => tokens,
        Err(reason) => {
            return Read { code: String::new(), flags: vec![format!("{path}: {reason}")] };
        }
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader {
        own: stub.lines().map(str::trim).collect(),
        lines,
        // Kernels and threads come with `unsafe`, and a learner adds some.
        with_unsafe: stub.contains("unsafe"),
        own_macros,
        found: BTreeMap::new(),
    };
    reader.stream(tokens.clone(), Place { strict: false, in_use: false });
    let flags = reader.found.into_iter().flat_map(|(line, words)| {
        words.into_iter().map(move |word| format!("{path}:{line}: {word}"))
    });
    let flags = flags.collect();
    let mut printer = Printer { code: String::new(), line: 1, column: 0, joint: false };
    printer.stream(tokens);
    Read { code: printer.code + "\n", flags }
}

/// Where tokens stand.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// In the definition of a macro, or between the brackets of a submission's own.
    strict: bool,
    /// Between `use` and `;`.
    in_use: bool,
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    own: BTreeSet<&'a str>,
    with_unsafe: bool,
    own_macros: &'a BTreeSet<String>,
    found: BTreeMap<usize, BTreeSet<String>>,
}

impl Reader<'_> {
    fn flag(&mut self, at: LineColumn, what: &str) {
        let line = self.lines.get(at.line.saturating_sub(1)).map_or("", |line| line.trim());
        if !self.own.contains(line) {
            self.found.entry(at.line).or_default().insert(what.to_owned());
        }
    }

    fn stream(&mut self, tokens: TokenStream, place: Place) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut in_use = place.in_use;
        for (i, token) in tokens.iter().enumerate() {
            let at = token.span().start();
            match token {
                TokenTree::Ident(_) => {
                    let word = word(Some(token));
                    in_use |= word == "use" && !place.strict;
                    self.word(&tokens, i, &word, Place { in_use, ..place });
                }
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let inner = is(tokens.get(i + 1), '!');
                    match tokens.get(i + 1 + usize::from(inner)) {
                        Some(TokenTree::Group(group))
                            if group.delimiter() == Delimiter::Bracket =>
                        {
                            self.attribute(group);
                        }
                        _ => self.flag(at, "a # without an attribute"),
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => in_use = place.in_use,
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                TokenTree::Group(group) => {
                    let strict = place.strict || self.belongs_to_own_macro(&tokens[..i]);
                    // Braces in a `use` hold names, all others end it.
                    let brace = group.delimiter() == Delimiter::Brace;
                    self.stream(group.stream(), Place { strict, in_use: in_use && brace });
                }
            }
        }
    }

    /// Whether the tokens before a group are `name !` with a macro of the submission's, or
    /// `macro_rules ! name`.
    fn belongs_to_own_macro(&self, before: &[TokenTree]) -> bool {
        let n = before.len();
        let back = |by: usize| n.checked_sub(by).and_then(|at| before.get(at));
        is(back(1), '!') && self.own_macros.contains(&word(back(2)))
            || is(back(2), '!') && word(back(3)) == "macro_rules"
    }

    fn word(&mut self, tokens: &[TokenTree], i: usize, word: &str, place: Place) {
        let at = tokens[i].span().start();
        let behind = |by: usize| i.checked_sub(by).and_then(|at| tokens.get(at));
        let in_path = is(behind(1), ':') && is(behind(2), ':')
            || is(tokens.get(i + 1), ':') && is(tokens.get(i + 2), ':');
        let called = is(tokens.get(i + 1), '!') && !is(tokens.get(i + 2), '=');
        match word {
            "unsafe" if !self.with_unsafe => self.flag(at, word),
            "mod" | "macro_rules" if place.strict => self.flag(at, &format!("{word} in a macro")),
            "macro_rules" => {}
            _ if NOWHERE.contains(&word) => self.flag(at, word),
            _ if MODULES.contains(&word) && (in_path || place.in_use || place.strict || called) => {
                self.flag(at, word);
            }
            // Under another name it would no longer be known for the submission's own.
            _ if place.in_use && self.own_macros.contains(word) => {
                self.flag(at, &format!("use of the macro {word}"));
            }
            _ if called
                && !MACROS.contains(&word)
                && !KEYWORDS.contains(&word)
                && !self.own_macros.contains(word) =>
            {
                self.flag(at, &format!("{word}!"));
            }
            _ => {}
        }
    }

    fn attribute(&mut self, group: &Group) {
        let first = group.stream().into_iter().next();
        let name = word(first.as_ref());
        if !ATTRIBUTES.contains(&name.as_str()) {
            let shown = if name.is_empty() { "an attribute without a name" } else { &name };
            self.flag(group.span_open().start(), &format!("#[{shown}]"));
        }
    }
}

/// An identifier, without `r#`; empty for other tokens.
fn word(token: Option<&TokenTree>) -> String {
    match token {
        Some(TokenTree::Ident(ident)) => ident.to_string().trim_start_matches("r#").to_owned(),
        _ => String::new(),
    }
}

fn is(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Writes tokens at the lines and columns where they stood.
struct Printer {
    code: String,
    line: usize,
    column: usize,
    /// The next token belongs to the sign before it: `::`, `->`, `'a`.
    joint: bool,
}

impl Printer {
    fn stream(&mut self, tokens: TokenStream) {
        for token in tokens {
            let at = token.span().start();
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::None => ("", ""),
                    };
                    self.print(group.span_open().start(), open);
                    self.stream(group.stream());
                    self.print(group.span_close().start(), close);
                }
                TokenTree::Punct(punct) => {
                    self.print(at, &punct.as_char().to_string());
                    self.joint = punct.spacing() == Spacing::Joint;
                }
                TokenTree::Ident(ident) => self.print(at, &ident.to_string()),
                TokenTree::Literal(literal) => self.print(at, &literal.to_string()),
            }
        }
    }

    fn print(&mut self, at: LineColumn, text: &str) {
        if !self.joint {
            while self.line < at.line {
                self.code.push('\n');
                (self.line, self.column) = (self.line + 1, 0);
            }
            // A comment's text, as an attribute, is longer than the comment was.
            let beside = self.line == at.line && self.column == at.column;
            let gap = if beside { 0 } else { at.column.saturating_sub(self.column).max(1) };
            let _ = write!(self.code, "{:gap$}", "");
            self.column += gap;
        }
        self.code.push_str(text);
        self.joint = false;
        match text.rsplit_once('\n') {
            Some((before, last)) => {
                self.line += before.matches('\n').count() + 1;
                self.column = last.chars().count();
            }
            None => self.column += text.chars().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_alone(text: &str) -> Read {
        read("a.rs", text, "", &own_macros([text.to_owned()].iter()))
    }

    fn flags(text: &str) -> Vec<String> {
        read_alone(text).flags.iter().map(|flag| flag.replacen("a.rs:", "", 1)).collect()
    }

    #[test]
    fn what_no_task_needs_is_named_with_its_line() {
        for (text, expected) in [
            ("use std::{\n    process, fs};", &["2: fs", "2: process"][..]),
            ("fn a() { std::process::exit(0) }", &["1: process"]),
            ("use std as s;\nfn a() { s :: r#fs :: read(x); }", &["2: fs"]),
            ("use std::*;\nfn a() { env::var(x); }", &["2: env"]),
            ("const A: &str = env!(\"A\");", &["1: env"]),
            ("/* \n */ const A: &str = include_str! [\"a\"];", &["2: include_str"]),
            ("extern \"C\" { fn a(); }", &["1: extern"]),
            ("fn a() { unsafe { } }", &["1: unsafe"]),
            ("#[path = \"a\"]\nmod a;", &["1: #[path]"]),
            ("#[cfg_attr(all(), path = \"a\")] mod a;", &["1: #[cfg_attr]"]),
            ("#![feature(x)]", &["1: #[feature]"]),
            ("#[unsafe(no_mangle)] fn a() {}", &["1: #[unsafe]", "1: no_mangle", "1: unsafe"]),
            ("use tiny_llm_harness::fixtures;", &["1: tiny_llm_harness"]),
            ("fn a() { nobody_knows!() }", &["1: nobody_knows!"]),
            ("#[doc = include_str!(\"x\")] fn a() {}", &["1: include_str"]),
            ("fn a() {", &[" it is not Rust: a bracket, a string or a comment does not end"]),
        ] {
            let found = flags(text);
            let same = expected.iter().all(|flag| found.iter().any(|found| found == flag));
            assert!(same && !found.is_empty(), "{text}: {found:?}");
        }
    }

    #[test]
    fn macros_hide_nothing() {
        for (text, expected) in [
            ("macro_rules! m { ($p:literal) => {\n#[path = $p] mod a; } }", "2: #[path]"),
            ("macro_rules! m { ($g:tt) => {\n# $g mod a; } }", "2: a # without an attribute"),
            ("macro_rules! m { ($a:ident) => { $a } }\nm!(process);", "2: process"),
            ("macro_rules ! format { ($a:ident) => { } }\nfn a() { format!(fs) }", "2: fs"),
            ("macro_rules! m { () => {} }\nuse m as format;", "2: use of the macro m"),
            (
                "macro_rules! m { ($n:ident) => {\nmacro_rules! $n {} } }",
                "2: macro_rules in a macro",
            ),
            ("macro_rules! m { ($n:ident) => {\nmod $n; } }", "2: mod in a macro"),
            ("macro_rules! m { ($h:tt) => { } }\nm!(#);", "2: a # without an attribute"),
        ] {
            assert!(flags(text).contains(&expected.to_owned()), "{text}: {:?}", flags(text));
        }
    }

    #[test]
    fn the_same_words_elsewhere_are_names_like_others() {
        for text in [
            "// std::fs unsafe\n/* process::exit */ fn a(net: u8, path: &str) -> u8 { net }",
            "fn a() { let process = \"std::env\"; if !done { return !process; } a != b; x!=y }",
            "struct Net { fs: u8 } fn a(n: Net) -> u8 { n.fs }",
            "fn a() -> ! { loop { panic!(\"{}\", 'f') } }",
            "macro_rules! m { ($x:expr) => { $x + 1 } }\nfn a() -> u8 { m!(3) }",
            "#[derive(Debug)] #[inline] struct A; /// x\n fn b() {}",
            "let y = x.iter().map(|x| !x).sum::<f32>(); let s = x.slice(ndarray::s![.., 0]);",
        ] {
            assert_eq!(flags(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_line_of_the_stub_is_not_flagged() {
        let stub = "use std::fs;\nunsafe fn a() {}";
        let text = "  use std::fs;\nfn b() { unsafe { fs::read(x) } }";
        assert_eq!(read("a.rs", text, stub, &BTreeSet::new()).flags, ["a.rs:2: fs"]);
    }

    #[test]
    fn what_is_compiled_is_what_was_read() {
        let text = "fn a<'a>(x: &'a [f32]) -> f32 {\n    // a comment\n    x[1..2][0]  /* and */ \
                    << 2 & !0; \"a\\\n\
                    b\"; 'c'; b'd'; 1.0e3; r#\"raw\n\"#\n\
                    }\n";
        let code = read_alone(text).code;
        let without = text.replace("// a comment", "").replace("/* and */", "         ");
        let trimmed =
            |text: &str| text.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(trimmed(&code), trimmed(&without));
        // A first line that the compiler takes for a shell's, with a comment that it does not see.
        let shebang = read_alone("#!/*\nuse std::fs;\n*/ mod a;");
        assert!(!shebang.code.contains("fs") && !shebang.flags.is_empty(), "{shebang:?}");
    }

    #[test]
    fn brackets_without_end_are_refused() {
        let deep = "(".repeat(100_000) + &")".repeat(100_000);
        assert_eq!(flags(&deep), [" brackets nest too deep to be read"]);
    }

    #[test]
    fn the_course_has_nothing_to_flag() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = crate::curriculum::Curriculum::load(root).unwrap();
        let files = crate::stubs::generated(root, &curriculum).unwrap();
        let texts: Vec<String> = files.iter().map(|file| file.template.render(|_| true)).collect();
        let own = own_macros(texts.iter());
        for (file, text) in files.iter().zip(&texts) {
            let read = read(&file.path, text, &file.stub, &own);
            assert_eq!(read.flags, Vec::<String>::new());
        }
    }
}
