//! The reference with many bodies for its functions at once, of which an environment variable
//! chooses one: so one build serves all.

use std::path::Path;

use crate::stubs::Generated;

/// The variable that chooses: a body's number; the reference's own where it is not set, or 0.
pub(crate) const VARIABLE: &str = "COURSE_VARIANT";

/// Another body for a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// `src/week1/gqa.rs`
    pub(crate) file: &'a str,
    pub(crate) function: &'a str,
    /// Where the body comes from, for the compiler's messages.
    pub(crate) place: &'a str,
    pub(crate) body: &'a str,
}

/// The expression that gives the chosen number.
pub(crate) fn chosen() -> String {
    format!(
        "{{ static NUMBER: std::sync::OnceLock<usize> = std::sync::OnceLock::new(); \
         *NUMBER.get_or_init(|| std::env::var({VARIABLE:?}).map_or(0, \
         |number| number.parse().expect(\"a number\"))) }}"
    )
}

/// The text of a file of the reference with the variants of its functions.
pub(crate) fn render(file: &Generated, variants: &[Variant]) -> String {
    file.template.render_arms(&chosen(), |function| {
        let of_function =
            |variant: &&Variant| variant.file == file.path && variant.function == function;
        let arm = |Variant { number, place, body, .. }: &Variant| {
            format!("{number} => {{ // {place}\n{body}\n}}")
        };
        variants.iter().filter(of_function).map(arm).collect()
    })
}

/// A crate's first file, `lib.rs`, with all warnings off: a wrong body may well leave things
/// unused.
pub(crate) fn without_warnings(library: &Path) -> std::io::Result<String> {
    let library = std::fs::read_to_string(library)?;
    let (docs, rest): (Vec<&str>, Vec<&str>) =
        library.lines().partition(|line| line.starts_with("//!"));
    Ok(format!("{}\n#![allow(warnings)]\n{}\n", docs.join("\n"), rest.join("\n")))
}
