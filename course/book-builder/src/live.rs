//! `{{#live q4-block}}`: an interactive example. Its code is `book/src/live/q4-block.js`, a module
//! without a framework. Without JavaScript, and in print, the example is empty.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::markdown::{self, Problem};

/// Folder of the modules, relative to the book's sources.
const FOLDER: &str = "live";

/// Every module that runs the engine imports this path.
const ENGINE: &str = "\"./engine.js\"";

/// Files that examples with the engine fetch, with the native engine's results for comparison.
const FETCHED: [&str; 3] = ["engine.wasm", "tiny-story.gguf", "native.json"];

/// The beginning of a question with a folded answer. The module `predict.js` makes it a quiz.
const QUESTION: &str = "**Predict.**";

/// Replaces every `{{#live NAME}}` outside code blocks with an element and the module that fills
/// it. `chapter` is relative to `sources`. If the book is built without the engine, omits the
/// examples that run the engine.
pub(crate) fn expand(
    text: &str,
    sources: &Path,
    chapter: &Path,
    with_engine: bool,
    problems: &mut Vec<Problem>,
) -> String {
    let mut out = markdown::expand(text, problems, |directive, name| {
        let path = sources.join(FOLDER).join(name).with_extension("js");
        let element = |script: String| {
            if script.contains(ENGINE) && !with_engine {
                return String::new();
            }
            let module = module(name, chapter);
            format!("<div class=\"live\" data-live=\"{name}\"></div>\n\n{module}")
        };
        (directive == "live").then(|| {
            fs::read_to_string(path)
                .map(element)
                .map_err(|_| format!("live: there is no {FOLDER}/{name}.js"))
        })
    });
    if text.contains(QUESTION) {
        out.push_str("\n\n");
        out.push_str(&module("predict", chapter));
    }
    out
}

/// Copies the engine's files to the modules of a built book.
pub(crate) fn add_engine(engine: &Path, built: &Path) -> Result<()> {
    for name in FETCHED {
        let from = engine.join(name);
        fs::copy(&from, built.join(FOLDER).join(name))
            .with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
}

/// Returns the HTML element that loads the module `name` into the page of `chapter`.
fn module(name: &str, chapter: &Path) -> String {
    let up = "../".repeat(chapter.components().count().saturating_sub(1));
    format!("<script type=\"module\" src=\"{up}{FOLDER}/{name}.js\"></script>\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn replaces_a_directive_with_an_element_and_a_module() {
        let sources = tempfile::tempdir().unwrap();
        fs::create_dir(sources.path().join("live")).unwrap();
        fs::write(sources.path().join("live/dials.js"), "").unwrap();
        let mut problems = Vec::new();
        let text = "see\n\n{{#live dials}}\n\n```text\n{{#live dials}}\n```\n";
        let chapter = Path::new("week1/day2.md");
        let out = expand(text, sources.path(), chapter, false, &mut problems);
        assert!(problems.is_empty());
        assert_eq!(out.matches("data-live=\"dials\"").count(), 1);
        assert!(out.contains("<script type=\"module\" src=\"../live/dials.js\">"), "{out}");
        assert!(out.contains("```text\n{{#live dials}}\n```"), "{out}");
        expand("a\n{{#live gone}}\n", sources.path(), chapter, false, &mut problems);
        assert_eq!(problems, [(2, "live: there is no live/gone.js".to_owned())]);
    }

    #[test]
    fn omits_engine_examples_without_an_engine() {
        let sources = tempfile::tempdir().unwrap();
        fs::create_dir(sources.path().join("live")).unwrap();
        fs::write(sources.path().join("live/story.js"), format!("import {{ a }} from {ENGINE};"))
            .unwrap();
        let places = |with_engine| {
            let (text, chapter) = ("{{#live story}}\n", Path::new("preface.md"));
            let out = expand(text, sources.path(), chapter, with_engine, &mut Vec::new());
            out.matches("data-live").count()
        };
        assert_eq!((places(false), places(true)), (0, 1));
        let (engine, built) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(built.path().join("live")).unwrap();
        let missing = add_engine(engine.path(), built.path()).unwrap_err();
        assert!(missing.to_string().contains("engine.wasm"), "{missing}");
        FETCHED.iter().for_each(|name| fs::write(engine.path().join(name), name).unwrap());
        add_engine(engine.path(), built.path()).unwrap();
        assert_eq!(fs::read(built.path().join("live/native.json")).unwrap(), b"native.json");
    }

    #[test]
    fn adds_the_quiz_module_for_questions() {
        let out = expand(
            "**Predict.** What?\n",
            Path::new("."),
            Path::new("setup.md"),
            false,
            &mut Vec::new(),
        );
        assert!(out.ends_with("<script type=\"module\" src=\"live/predict.js\"></script>\n"));
    }
}
