//! Colours, used sparingly: only on a terminal, and neither in CI nor if `NO_COLOR` is set.

use std::io::{IsTerminal, stdout};

/// Styles for text on standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    colour: bool,
}

impl Ink {
    /// Creates an ink with colour if standard output supports it and the environment allows it.
    pub(crate) fn of_stdout() -> Self {
        Self { colour: stdout().is_terminal() && !plain_wanted() && ansi() }
    }

    /// Creates an ink without colour.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { colour: false }
    }

    /// Returns whether colour is used. If so, the programs that this program starts use it too.
    pub(crate) fn has_colour(self) -> bool {
        self.colour
    }

    /// Formats a success.
    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Formats a failure.
    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Formats an open task.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Formats a heading.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Formats a remark.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Returns whether the environment asks for plain text: `NO_COLOR`, `CI`, or a terminal that
/// supports nothing else.
pub(crate) fn plain_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    set("NO_COLOR") || set("CI") || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

#[cfg(windows)]
fn ansi() -> bool {
    crossterm::ansi_support::supports_ansi()
}

#[cfg(not(windows))]
fn ansi() -> bool {
    true
}

/// Returns the text without the codes for colours.
pub(crate) fn bleached(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = code.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, after)| after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bleached_removes_colours() {
        let ink = Ink { colour: true };
        assert_eq!(ink.red("x"), "\x1b[31mx\x1b[0m");
        assert_eq!(bleached(&format!("a {} b {}", ink.bold("c"), ink.green("d"))), "a c b d");
        assert_eq!(bleached("cut \x1b["), "cut ");
        assert_eq!(Ink::plain().red("x"), "x");
    }
}
