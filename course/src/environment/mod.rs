//! Checks this machine and this repository. For each requirement, reports whether it is met, why it
//! is needed, and how to meet it.
//!
//! The checks modify nothing.

use std::{path::Path, process::ExitCode, thread};

use anyhow::Result;

use self::part::Part;
use crate::{curriculum::Curriculum, explain::counted};

mod machine;
mod part;
mod python;
mod repository;
mod toolchain;

pub use machine::free_kib;
pub use python::{Venv, extra, python};

/// Prints one line for each requirement of the story that `cargo course start` prints.
///
/// # Errors
/// If a requirement is not met and is not optional.
pub fn report(root: &Path) -> Result<()> {
    let parts =
        [toolchain::rust(root), toolchain::linker(), machine::disk(root), python::interpreter()];
    for part in &parts {
        println!("{}", part.line());
    }
    let missing: Vec<_> =
        parts.iter().filter(|part| part.is_missing()).map(|part| part.name).collect();
    anyhow::ensure!(missing.is_empty(), "missing on this machine: {}", missing.join(", "));
    Ok(())
}

/// Runs `cargo course doctor`: prints one line for every requirement. The exit code is 1 if a
/// requirement is not met and is not optional.
pub fn doctor(root: &Path, curriculum: &Curriculum) -> ExitCode {
    let mut missing = 0;
    for (heading, parts) in everything(root, curriculum) {
        println!("{heading}");
        for part in parts {
            println!("{}", part.line());
            missing += usize::from(part.is_missing());
        }
    }
    if missing == 0 {
        println!("Nothing is missing.");
        return ExitCode::SUCCESS;
    }
    let parts = counted(missing, "required part");
    println!("Missing: {parts}. The course works without the parts marked as optional.");
    ExitCode::FAILURE
}

/// Checks every requirement, and returns the results under three headings. The checks of programs
/// run concurrently, because they start other processes.
fn everything(root: &Path, curriculum: &Curriculum) -> [(&'static str, Vec<Part>); 3] {
    thread::scope(|scope| {
        let asked: [Box<dyn FnOnce() -> Part + Send>; 10] = [
            Box::new(|| toolchain::rust(root)),
            Box::new(|| toolchain::cargo(root)),
            Box::new(toolchain::linker),
            Box::new(|| toolchain::rustfmt(root)),
            Box::new(|| toolchain::clippy(root)),
            Box::new(toolchain::git),
            Box::new(|| toolchain::libraries(root)),
            Box::new(python::interpreter),
            Box::new(|| python::environment(root)),
            Box::new(|| repository::book_builder(root)),
        ];
        let asked = asked.map(|ask| scope.spawn(ask));
        let machine =
            vec![machine::disk(root), machine::memory(), machine::processor(), machine::terminal()];
        let repository = vec![
            repository::models(root),
            repository::stubs(root, curriculum),
            repository::state(root),
            repository::other_cargo(root),
        ];
        let tools =
            asked.map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        [("Programs:", tools.into()), ("Machine:", machine), ("Repository:", repository)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::part::version;

    #[test]
    fn versions_are_compared_as_numbers() {
        let oldest = python::OLDEST;
        assert!(
            version("3.9.2") < oldest
                && version("3.10.0") >= oldest
                && version("3.14.0rc1") >= oldest
        );
        assert_eq!(version("1.95.0-nightly"), (1, 95));
    }

    #[test]
    fn this_machine_meets_all_requirements() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = Curriculum::load(root).unwrap();
        for part in everything(root, &curriculum).into_iter().flat_map(|(_, parts)| parts) {
            assert!(!part.is_missing(), "{part:?}");
        }
    }

    #[test]
    fn formats_each_result() {
        let found = Part::required("Rust", Ok("1.95".to_owned()));
        let optional = Part::optional("git", Err("missing".to_owned()), "your history needs it");
        let missing = Part::required("linker", Err("`cc` is missing".to_owned()));
        assert_eq!(found.line(), "  ok        Rust         1.95");
        assert_eq!(optional.line(), "  optional  git          missing; your history needs it");
        assert_eq!(missing.line(), "  MISSING   linker       `cc` is missing");
        assert!(missing.is_missing() && !optional.is_missing() && !found.is_missing());
    }
}
