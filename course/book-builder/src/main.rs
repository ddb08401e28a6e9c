//! Builds and serves the book. `book/README.md` describes the conventions that it checks.

mod chapters;
mod check;
mod console;
mod figure;
mod finish;
mod live;
mod markdown;
mod math;
mod mistakes;
mod serve;
mod stub;
mod warnings;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use clap::Parser;
use mdbook_driver::MDBook;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext, book::Book};

/// Build the book and serve it on this machine.
#[derive(Parser)]
#[command(name = "cargo course book")]
struct Options {
    /// Only build the book, into book/book
    #[arg(long)]
    build: bool,
    /// Port on 127.0.0.1 to serve the book on
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// URL for links to each page's source, for example `https://github.com/owner/name`
    #[arg(long, value_name = "URL")]
    repository: Option<String>,
    /// Folder of the WebAssembly engine from `cargo course book` [default: no live examples]
    #[arg(long, value_name = "FOLDER", hide = true)]
    engine: Option<PathBuf>,
    /// Only print the book's commands, as one line of JSON
    #[arg(long)]
    list_commands: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let repository = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .canonicalize()
        .context("the repository from which this program was built is gone")?;
    if options.list_commands {
        for command in console::commands(&repository)? {
            println!("{command}");
        }
        return Ok(());
    }
    warnings::collect();
    let extra = Extra {
        hosted: options.repository.as_deref().map(|url| url.trim_end_matches('/')),
        engine: options.engine.as_deref(),
    };
    let built = build(&repository, extra);
    if options.build {
        built?;
        println!("built book/book/index.html");
        return Ok(());
    }
    if let Err(error) = built {
        eprintln!("{error:#}\n\nServing the last build; the book is rebuilt when a file changes.");
    }
    serve::serve(&repository.join("book/book"), options.port, || {
        serve::watch(
            &[
                repository.join("book"),
                repository.join("reference/src"),
                repository.join("provided"),
                repository.join("formats"),
                repository.join(mistakes::FOLDER),
            ],
            &repository.join("book/book"),
            || match build(&repository, extra) {
                Ok(()) => println!("rebuilt: reload the page"),
                Err(error) => eprintln!("{error:#}"),
            },
        );
    })
}

/// Optional parts of the book.
#[derive(Clone, Copy)]
struct Extra<'a> {
    /// URL of the repository.
    hosted: Option<&'a str>,
    /// See [`Options::engine`].
    engine: Option<&'a Path>,
}

/// Checks the sources, then renders them to `book/book`.
fn build(repository: &Path, extra: Extra<'_>) -> Result<()> {
    let problems = check::problems(repository)?;
    if !problems.is_empty() {
        bail!("the book has {} mistakes:\n{}", problems.len(), problems.join("\n"));
    }
    let mut book = MDBook::load(repository.join("book"))?;
    let with_engine = extra.engine.is_some();
    book.with_preprocessor(Course { repository: repository.to_owned(), with_engine });
    book.build()?;
    let warnings = warnings::take();
    if !warnings.is_empty() {
        bail!("mdBook warns:\n{}", warnings.join("\n"));
    }
    let built = repository.join("book/book");
    if let Some(folder) = extra.engine {
        live::add_engine(folder, &built)?;
    }
    finish::pages(repository, &built, extra.hosted)
}

/// Inserts stubs, known mistakes, formulas, live examples and drawings into every chapter.
struct Course {
    repository: PathBuf,
    with_engine: bool,
}

impl Preprocessor for Course {
    fn name(&self) -> &str {
        "course"
    }

    fn run(
        &self,
        context: &PreprocessorContext,
        mut book: Book,
    ) -> mdbook_preprocessor::errors::Result<Book> {
        let sources = context.root.join(&context.config.book.src);
        let mut problems = Vec::new();
        book.for_each_chapter_mut(|chapter| {
            let text = stub::expand(&chapter.content, &self.repository, &mut problems);
            let text = mistakes::expand(&text, &self.repository, &mut problems);
            let text = math::typeset(&text, &mut problems);
            let path = chapter.path.as_deref().unwrap_or(Path::new(""));
            let text = live::expand(&text, &sources, path, self.with_engine, &mut problems);
            let folder = chapter.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
            chapter.content = figure::inline(&text, &sources.join(folder), &mut problems);
        });
        // `check` has already reported these with their line numbers, but included files are
        // inserted only now.
        if let Some((_, problem)) = problems.first() {
            bail!("{problem}");
        }
        Ok(book)
    }
}
