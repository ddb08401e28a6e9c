//! Generates the type stubs of the Python module from the functions, classes and enumerations in
//! `src/`, once for each solution. The stubs are not committed.

use std::{
    fs,
    io::{Result, Write as _},
    path::{Path, PathBuf},
};

use syn::{File, Item, Type, UseTree};

mod stubs;

use stubs::{Choice, Stub, is};

/// Words in a stub, each with the import that it needs. `{root}` is the package `tiny_llm`.
const IMPORTS: [(&str, &str); 8] = [
    ("enum.", "import enum\n"),
    ("abc.", "from collections import abc\n"),
    ("PathLike[", "from os import PathLike\n"),
    ("NoReturn", "from typing import NoReturn\n"),
    ("@final", "from typing import final\n"),
    ("Array", "from {root}_types import Array\n"),
    ("Ids", "from {root}_types import Ids\n"),
    ("Numbers", "from {root}_types import Numbers\n"),
];

/// The stub of `load`, which `tiny_llm/__init__.py` adds to both solutions.
const LOADER: &str = r#"from .._llm import Llm
from .week1.model import Model

def load(folder: str | PathLike[str]) -> Llm[Model]:
    """Loads a Hugging Face folder, by its path or by name. A tokenizer is not needed for what works on tokens."""
"#;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=src");
    let package = Path::new("python/tiny_llm");
    let kit = Module::read("src/kit.rs", &["kit"])?;
    write(&kit, &Stub::of(&kit, &[]), &package.join("kit.pyi"))?;
    let mut modules = vec![kit];
    let mut packages = vec![(Module::read("src/solution/engine.rs", &[])?, LOADER.to_owned())];
    for week in ["week1", "week2", "week3", "week4"] {
        packages[0].1 += &format!("from . import {week} as {week}\n");
        let mut list = Vec::new();
        for file in fs::read_dir(Path::new("src/solution").join(week))? {
            let file = file?.path();
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if name != "mod" {
                modules.push(Module::read(&file, &[week, &name])?);
                list.push(format!("from . import {name} as {name}\n"));
            }
        }
        let path = format!("src/solution/{week}/mod.rs");
        packages.push((Module::read(path, &[week])?, list.concat()));
    }
    for solution in ["student", "reference"] {
        let folder = package.join(solution);
        for (module, head) in &packages {
            let text = Stub::of(module, &modules) + head;
            write(module, &text, &folder.join(module.path.join("/")).join("__init__.pyi"))?;
        }
        for module in &modules[1..] {
            let to = folder.join(module.path.join("/")).with_extension("pyi");
            write(module, &Stub::of(module, &modules), &to)?;
        }
    }
    Ok(())
}

/// Writes a module's stub to the file `to`, after the imports that the stub needs.
fn write(module: &Module, stub: &str, to: &Path) -> Result<()> {
    // Cargo runs this program again if the stub is deleted.
    println!("cargo::rerun-if-changed={}", to.display());
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    let mut file = fs::File::create(to)?;
    let root = module.root();
    for (_, import) in IMPORTS.iter().filter(|(word, _)| stub.contains(word)) {
        file.write_all(import.replace("{root}", root).as_bytes())?;
    }
    file.write_all(stub.as_bytes())?;
    // The stub must not be newer than its source, or cargo would run this program at every build.
    file.set_modified(fs::metadata(&module.source)?.modified()?)
}

/// A parsed file of `src/`. `path` is its path below the solution, or below `tiny_llm` for `kit`.
pub(crate) struct Module {
    pub(crate) path: Vec<String>,
    pub(crate) source: PathBuf,
    pub(crate) file: File,
}

impl Module {
    fn read(source: impl Into<PathBuf>, path: &[&str]) -> Result<Self> {
        let source = source.into();
        let file = syn::parse_file(&fs::read_to_string(&source)?);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        Ok(Self { path: path.iter().map(ToString::to_string).collect(), source, file })
    }

    /// Returns the leading dots of this module's relative imports from the package `tiny_llm`.
    pub(crate) fn root(&self) -> &'static str {
        match self.path.len() {
            1 if self.path[0] == "kit" => ".",
            2 => "...",
            _ => "..",
        }
    }

    pub(crate) fn has_class(&self, name: &str) -> bool {
        self.file.items.iter().any(|item| match item {
            Item::Struct(item) => item.ident == name && is(&item.attrs, "pyclass"),
            _ => Choice::of(item).is_some_and(|choice| choice.name == name),
        })
    }

    pub(crate) fn alias(&self, name: &str) -> Option<&Type> {
        self.file.items.iter().find_map(|item| match item {
            Item::Type(item) if item.ident == name => Some(&*item.ty),
            _ => None,
        })
    }

    /// Returns the path of the module from which this module imports `name`, or None if it doesn't.
    pub(crate) fn origin(&self, name: &str) -> Option<Vec<String>> {
        fn find(tree: &UseTree, name: &str, path: &mut Vec<String>) -> bool {
            match tree {
                UseTree::Path(part) => {
                    path.push(part.ident.to_string());
                    find(&part.tree, name, path) || path.pop().is_none()
                }
                UseTree::Group(group) => group.items.iter().any(|tree| find(tree, name, path)),
                UseTree::Name(found) => found.ident == name,
                _ => false,
            }
        }
        let mut path = Vec::new();
        let uses = self.file.items.iter().filter_map(|item| match item {
            Item::Use(item) => Some(&item.tree),
            _ => None,
        });
        uses.map(|tree| find(tree, name, &mut path)).find(|found| *found)?;
        let up = path.iter().take_while(|part| *part == "super").count();
        let above = self.path.len().checked_sub(up)?;
        Some(self.path[..above].iter().chain(&path[up..]).cloned().collect())
    }
}
