//! The command line: the learner's commands, and access to the tools.
//!
//! This crate uses no derive macros, because building them would take half of its build time. Every
//! learner waits for this build first.

use std::{ffi::OsString, process::ExitCode};

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::{
    borrow, curriculum::Curriculum, diff, engine, environment, files, hint, record::HINTS,
    selection::Words, start, status, test, tools, trace, update, watch,
};

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    end_with_the_reader();
    ended(run(&command().get_matches()))
}

/// Converts the result of a command to its exit code. Prints the error, if there is one.
pub fn ended(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Makes `cargo course | head` end without a message when the reader closes the pipe early.
pub fn end_with_the_reader() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload().downcast_ref::<String>().is_some_and(|text| {
            text.starts_with("failed printing to stdout") && text.contains("ipe")
        }) {
            std::process::exit(141);
        }
        usual(panic);
    }));
}

fn run(arguments: &ArgMatches) -> Result<ExitCode> {
    let root = files::repository_root()?;
    let (name, options) = arguments.subcommand().unwrap_or(("status", arguments));
    if let Some(build) = engine::named(name) {
        return tools::engine(&root, build, &rest(options, ""));
    }
    // After an interrupted update, the list of tasks may not match the other files.
    if name == "update" {
        let from = options.get_one::<String>("from").map(String::as_str);
        update::update(&root, from, has(options, "dry-run"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let curriculum = Curriculum::load(&root)?;
    match name {
        "start" => start::start(&root, &curriculum)?,
        "status" => status::print(&root, &curriculum, has(options, "json"))?,
        "next" => status::print_next(&root, &curriculum, &words(options))?,
        "test" => return test::test(&root, &curriculum, &words(options)),
        "watch" => return watch::watch(&root, &curriculum, &words(options)),
        "hint" => {
            let level = options.get_one::<u8>("level").copied();
            hint::print(&root, &curriculum, &words(options), level)?;
        }
        "borrow" if has(options, "before") => {
            borrow::borrow_before(&root, &curriculum, &words(options))?;
        }
        "borrow" => borrow::borrow(&root, &curriculum, &words(options))?,
        "return" => {
            borrow::give_back(&root, &curriculum, &words(options), has(options, "force"))?;
        }
        "diff" => diff::diff(&root, &curriculum, &words(options), has(options, "spoil"))?,
        "trace" => {
            let options = trace::Options {
                prompt: options.get_one("prompt").cloned(),
                tokens: options.get_one("tokens").cloned(),
                model: options.get_one("model").cloned(),
            };
            return trace::trace(&root, &curriculum, &options);
        }
        "doctor" => return Ok(environment::doctor(&root, &curriculum)),
        "book" => return tools::book(&root, &rest(options, "options")),
        tool => return tools::run(&root, tool, &rest(options, "")),
    }
    Ok(ExitCode::SUCCESS)
}

fn command() -> Command {
    Command::new("cargo course")
        .bin_name("cargo course")
        .version(env!("CARGO_PKG_VERSION"))
        .about(
            "Guides you through the course. Without a command, shows your progress and the next task.",
        )
        .allow_external_subcommands(true)
        .subcommand_value_name("COMMAND")
        .subcommands(every_day())
        .subcommands(now_and_then())
        .after_help(tools::help())
}

/// Commands for working on a task.
fn every_day() -> [Command; 8] {
    [
        Command::new("start")
            .about("Check this machine, build the engine, print a story, and show your first task"),
        Command::new("status")
            .about("Show your progress (the default command)")
            .arg(flag("json", "Print JSON (the book describes the schema)")),
        Command::new("next").about("Describe a task: goal, file, functions, chapter").arg(place(
            "A day and, if you like, a task number: week1-day2 3 [default: the current task]",
        )),
        Command::new("test").about("Run the tests of a task, a day or a week").arg(place(
            "For example `week1-day1 2`, softmax, day1 or week1 [default: the current task]",
        )),
        Command::new("watch")
            .about("Rerun your task's tests whenever you save (keys: hint, progress, chapter)")
            .arg(place("For example week1-day3 [default: the whole course]"))
            // Earlier versions had this option. It has no effect now, because files are always
            // polled.
            .arg(flag("poll", "").hide(true)),
        Command::new("hint")
            .about("Show the next of a task's three hints")
            .arg(place(
                "A task or a function: week1-day1 2, or softmax [default: the current task]",
            ))
            .arg(
                Arg::new("level")
                    .long("level")
                    .value_name("N")
                    .value_parser(value_parser!(u8).range(1..=i64::from(HINTS)))
                    .help("Number of the hint, 1 to 3 [default: the first that you have not seen]"),
            ),
        Command::new("diff")
            .about("Compare your solution with the reference, once the task's tests pass")
            .arg(place("A task or a function: week1-day2 3, or softmax").required(true))
            .arg(flag("spoil", "Show the reference even if the tests fail")),
        Command::new("trace")
            .about("Find where your model's activations first differ from the reference's")
            .args([
                Arg::new("prompt")
                    .short('p')
                    .long("prompt")
                    .value_name("TEXT")
                    .allow_hyphen_values(true)
                    .help("Text to run the model on [default: the start of a story]"),
                Arg::new("tokens")
                    .long("tokens")
                    .value_name("IDS")
                    .conflicts_with("prompt")
                    .help("Token ids to run the model on, separated by commas"),
                Arg::new("model")
                    .long("model")
                    .value_name("FOLDER")
                    .value_parser(value_parser!(std::path::PathBuf))
                    .help("Model folder [default: the embedded model]"),
            ]),
    ]
}

/// Commands for occasional use.
fn now_and_then() -> [Command; 5] {
    [
        Command::new("borrow")
            .about("Replace every todo! of a task or day with the reference's code")
            .arg(place("For example week1-day2 3, or week1-day2 for its open tasks").required(true))
            .arg(flag("before", "Borrow all earlier days, so that you can begin with PLACE")),
        Command::new("return")
            .about("Replace borrowed code with its todo!")
            .arg(place("For example week1-day2 3, or week1-day2 for the whole day").required(true))
            .arg(flag(
                "force",
                "Also replace borrowed code that you changed (the old file is kept in .course/recovery)",
            )),
        Command::new("book")
            .about("Build the book, and serve it on this machine (--build: only build it)")
            .arg(
                Arg::new("options")
                    .num_args(0..)
                    .trailing_var_arg(true)
                    .allow_hyphen_values(true)
                    .value_parser(value_parser!(OsString))
                    .help("Options for the book builder"),
            ),
        Command::new("doctor")
            .about("Check this machine and this repository, and explain how to get missing parts"),
        Command::new("update")
            .about("Update the course to a newer version, and keep your work")
            .arg(Arg::new("from").value_name("FROM").help(
                "Newer course: folder or git ref [default: default branch of upstream, or of \
                 origin]",
            ))
            .arg(flag("dry-run", "Only list what would change")),
    ]
}

/// Returns the argument that names a week, a day or a task.
fn place(help: &'static str) -> Arg {
    Arg::new("place").value_name("PLACE").num_args(1..=3).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn has(options: &ArgMatches, name: &str) -> bool {
    // `cargo course` without a command has no options.
    options.try_get_one::<bool>(name).is_ok_and(|flag| flag.copied().unwrap_or(false))
}

fn words(options: &ArgMatches) -> Words {
    Words(options.get_many("place").into_iter().flatten().cloned().collect())
}

fn rest(options: &ArgMatches, name: &str) -> Vec<OsString> {
    options.get_many::<OsString>(name).into_iter().flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn accepts_an_empty_command_line() {
        let alone = command().get_matches_from(["cargo course"]);
        assert!(alone.subcommand().is_none() && !has(&alone, "json"));
    }

    #[test]
    fn help_lists_learner_commands_before_tools() {
        let help = command().render_help().to_string();
        let at = |what: &str| help.find(what).unwrap_or_else(|| panic!("no {what:?} in\n{help}"));
        assert!(at("\n  start ") < at("\n  update ") && at("\n  update ") < at("maintainers"));
        for (name, _) in tools::TOOLS {
            assert!(at("maintainers") < at(&format!("\n  {name} ")), "{help}");
        }
    }
}
