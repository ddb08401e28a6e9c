//! Writes the type stubs of the Python module beside it: those in `stubs/`, with the docstrings of
//! the Rust code, once for each solution. They are not kept in the repository.

use std::{
    collections::HashMap,
    fs,
    io::{Result, Write as _},
    path::Path,
};

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=stubs");
    let package = Path::new("python/tiny_llm");
    write(Path::new("stubs/kit.pyi"), "src/kit.rs", &package.join("kit.pyi"))?;
    for solution in ["student", "reference"] {
        let folder = package.join(solution);
        let init = Path::new("stubs/__init__.pyi");
        write(init, "src/solution/engine.rs", &folder.join("__init__.pyi"))?;
        for week in ["week1", "week2", "week3", "week4"] {
            for stub in fs::read_dir(Path::new("stubs").join(week))? {
                let stub = stub?.path();
                let name = stub.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let rust = if name == "__init__" { "mod" } else { &name };
                let rust = format!("src/solution/{week}/{rust}.rs");
                write(&stub, &rust, &folder.join(week).join(format!("{name}.pyi")))?;
            }
        }
    }
    Ok(())
}

/// Writes a stub with the docstrings of a Rust file.
fn write(stub: &Path, rust: &str, to: &Path) -> Result<()> {
    // A stub that somebody deleted is written again.
    println!("cargo::rerun-if-changed={}", to.display());
    let text = documented(&fs::read_to_string(stub)?, &docstrings(&fs::read_to_string(rust)?));
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    let mut file = fs::File::create(to)?;
    file.write_all(text.as_bytes())?;
    // Not newer than its source, or cargo would run this program again at the next build.
    file.set_modified(fs::metadata(stub)?.modified()?)
}

/// Doc comments by the name of what they document: `softmax`, `Linear`, `Linear.forward`.
fn docstrings(rust: &str) -> HashMap<String, Vec<&str>> {
    let (mut found, mut class, mut lines) = (HashMap::new(), "", Vec::new());
    for line in rust.lines() {
        let code = line.trim_start();
        if let Some(text) = code.strip_prefix("///") {
            lines.push(text.strip_prefix(' ').unwrap_or(text));
            continue;
        }
        if code.is_empty() {
            lines.clear();
        }
        if line == "}" {
            class = "";
        }
        let code = ["pub(crate) ", "pub(super) ", "pub "]
            .iter()
            .find_map(|visibility| code.strip_prefix(visibility))
            .unwrap_or(code);
        let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let name = match first {
            "impl" => {
                class = second;
                continue;
            }
            "struct" | "fn" => second,
            // A field, or an enumeration of the macro `choice`.
            _ if code[first.len()..].starts_with(':') || code.ends_with('{') => first,
            _ => continue,
        };
        if !lines.is_empty() {
            let member = !class.is_empty() && first != "struct";
            let path = if member { format!("{class}.{name}") } else { name.to_owned() };
            found.insert(path, std::mem::take(&mut lines));
        }
        if first == "struct" && code.ends_with('{') {
            class = name;
        }
    }
    found
}

/// A stub with docstrings in place of `...`.
fn documented(stub: &str, docstrings: &HashMap<String, Vec<&str>>) -> String {
    let (mut text, mut class, mut path) = (String::new(), "", String::new());
    for line in stub.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let declared = |keyword| code.strip_prefix(keyword)?.split(['(', ':']).next();
        let head = if let Some(name) = declared("class ") {
            (class, path) = (name, name.to_owned());
            Some(line)
        } else {
            if let Some(name) = declared("def ") {
                path = if indent == 0 { name.to_owned() } else { format!("{class}.{name}") };
            }
            line.strip_suffix(" ...").filter(|head| head.ends_with(':'))
        };
        match (head, docstrings.get(&path)) {
            (Some(head), Some(lines)) if !path.contains("__") => {
                let pad = " ".repeat(indent + 4);
                text += &format!("{head}\n{pad}\"\"\"{}", lines[0]);
                for line in &lines[1..] {
                    text += format!("\n{pad}{line}").trim_end_matches(' ');
                }
                // The marks that end several lines have one of their own.
                text += &if lines.len() > 1 { format!("\n{pad}") } else { String::new() };
                text += "\"\"\"\n";
            }
            _ => text += line,
        }
        text.push('\n');
    }
    text
}
