//! Words in a submission that no task needs: not a verdict, but a place for the instructor to look
//! at.
//!
//! Words are looked for in the code alone, not in comments and strings. It is a reader's aid and no
//! defence: who wants to hide something finds a way.

/// Words that reach beyond the arithmetic of a task, and what they are shown as.
const WORDS: [(&str, &str); 17] = [
    ("process", "std::process"),
    ("abort", "abort"),
    ("fs", "std::fs"),
    ("net", "std::net"),
    ("env", "std::env"),
    ("option_env", "option_env!"),
    ("stdout", "std::io::stdout"),
    ("stderr", "std::io::stderr"),
    ("unsafe", "unsafe"),
    ("unsafe_code", "unsafe_code"),
    ("extern", "extern"),
    ("asm", "asm!"),
    ("global_asm", "global_asm!"),
    ("include", "include!"),
    ("include_str", "include_str!"),
    ("include_bytes", "include_bytes!"),
    ("tiny_llm_reference", "tiny_llm_reference"),
];

/// `src/week1/a.rs:12: std::process`, once for each word of a file, in the order of the file. What
/// the file's stub has too is the course's: kernels and threads come with `unsafe`.
pub(super) fn flags(path: &str, text: &str, stub: &str) -> Vec<String> {
    let own = words(stub);
    let added =
        words(text).into_iter().filter(|(word, _)| !own.iter().any(|(known, _)| known == word));
    added.map(|(word, line)| format!("{path}:{line}: {word}")).collect()
}

/// Each word of [`WORDS`] with the first line, from 1, that it stands in.
fn words(text: &str) -> Vec<(&'static str, usize)> {
    let tokens = tokens(text);
    let mut found: Vec<(&'static str, usize)> = Vec::new();
    for (i, (line, token)) in tokens.iter().enumerate() {
        let after = |n: usize| tokens.get(i + n).map_or("", |(_, token)| token.as_str());
        let word = WORDS.iter().find(|(word, _)| word == token).map(|(_, shown)| *shown);
        // `#[path = "…"]`, alone or inside a `cfg_attr`.
        let word = word.or_else(|| {
            (token == "path" && after(1) == "=" && after(2) == "\"").then_some("#[path]")
        });
        if let Some(word) = word
            && !found.iter().any(|(known, _)| *known == word)
        {
            found.push((word, *line));
        }
    }
    found
}

/// Identifiers and signs with their lines, from 1. A string is one `"`, whatever it holds; comments
/// are left out.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let (mut tokens, mut i, mut line) = (Vec::new(), 0, 1);
    while i < chars.len() {
        let start = i;
        match chars[i] {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && chars[i] != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => i = comment_end(&chars, i),
            '"' => {
                i = string_end(&chars, i);
                tokens.push((line, "\"".to_owned()));
            }
            '\'' => i = quote_end(&chars, i),
            c if c.is_alphabetic() || c == '_' => {
                while at(i).is_alphanumeric() || at(i) == '_' {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
                let raw_string =
                    matches!(word.as_str(), "r" | "br" | "cr") && at(i + hashes) == '"';
                if raw_string {
                    i = raw_string_end(&chars, i + hashes, hashes);
                    tokens.push((line, "\"".to_owned()));
                } else if word == "r" && hashes == 1 {
                    i += 1; // `r#process` is `process`.
                } else {
                    tokens.push((line, word));
                }
            }
            c => {
                i += 1;
                if !c.is_whitespace() {
                    tokens.push((line, c.to_string()));
                }
            }
        }
        i = i.min(chars.len());
        line += chars[start..i].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

/// Behind a block comment; they nest.
fn comment_end(chars: &[char], mut i: usize) -> usize {
    let mut depth = 0;
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

/// Behind a string that opens at `i`.
fn string_end(chars: &[char], mut i: usize) -> usize {
    i += 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// Behind a raw string whose `"` stands at `i`.
fn raw_string_end(chars: &[char], i: usize, hashes: usize) -> usize {
    let ends = |at: &usize| {
        chars[*at] == '"' && chars[*at + 1..].iter().take_while(|c| **c == '#').count() >= hashes
    };
    (i + 1..chars.len()).find(ends).map_or(chars.len(), |at| at + 1 + hashes)
}

/// Behind a character such as `'"'`, or behind the quote of a lifetime.
fn quote_end(chars: &[char], i: usize) -> usize {
    if chars.get(i + 1) == Some(&'\\') {
        // `'\''`, `'\u{22}'`
        return (i + 3..chars.len()).find(|&at| chars[at] == '\'').map_or(chars.len(), |at| at + 1);
    }
    if chars.get(i + 2) == Some(&'\'') { i + 3 } else { i + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        flags("a.rs", text, "").iter().map(|flag| flag.replace("a.rs:", "")).collect()
    }

    #[test]
    fn words_are_found_with_their_lines() {
        assert_eq!(
            words("use std::{\n    process, fs};\nfn a() { process::exit(0) }"),
            ["2: std::process", "2: std::fs"]
        );
        assert_eq!(words("fn a<'a>(x: &'a str) { unsafe { } }"), ["1: unsafe"]);
        assert_eq!(words("let x = '\"'; std :: io :: stdout()"), ["1: std::io::stdout"]);
        assert_eq!(words("let x = '\\''; std::r#env::var"), ["1: std::env"]);
        assert_eq!(words("let url = \"http://a\"; include!(\"b\");"), ["1: include!"]);
        assert_eq!(words("let s = r#\"\"//\"#; asm!()"), ["1: asm!"]);
        assert_eq!(words("#[cfg_attr(all(), path = \"../x.rs\")]\nmod x;"), ["1: #[path]"]);
        assert_eq!(words("/* /* */ */ extern crate std as s;"), ["1: extern"]);
    }

    #[test]
    fn comments_strings_and_other_words_are_not() {
        let none = Vec::<String>::new();
        assert_eq!(
            words("// unsafe\n/* std::process\n /* fs */ net */ let x = \"std::env \\\" unsafe\";"),
            none
        );
        assert_eq!(words("let processed = environment + r##\"include!(\"# asm\"##.len();"), none);
        assert_eq!(words("let path = x; struct P { path: u8 }"), none);
        assert_eq!(words("\"unended"), none);
        assert_eq!(words("/* unended"), none);
        assert_eq!(words("r#\"unended"), none);
        assert_eq!(words("'"), none);
    }

    #[test]
    fn what_the_stub_has_is_not_flagged() {
        assert_eq!(
            flags("a.rs", "unsafe {}\nstd::fs::read()", "unsafe { todo!() }"),
            ["a.rs:2: std::fs"]
        );
    }

    #[test]
    fn the_reference_has_none() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for file in
            crate::stubs::generated(root, &crate::curriculum::Curriculum::load(root).unwrap())
                .unwrap()
        {
            let text = file.template.render(|_| true);
            assert_eq!(flags(&file.path, &text, &file.stub), Vec::<String>::new());
        }
    }
}
