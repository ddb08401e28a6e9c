//! `cargo course watch`: runs the tests of the current task whenever you save.
//!
//! [`saves`] and [`keys`] send inputs, [`session`] decides what to do, [`worker`] does it and shows
//! the results, and [`rounds`] is the loop that connects them.

use std::{path::Path, process::ExitCode, sync::mpsc::channel};

use anyhow::{Context, Result, bail};

use crate::{
    curriculum::{Curriculum, Day},
    selection::{Selection, Words},
    task_states::Status,
};
use event::Input;
use rounds::End;
use screen::Screen;
use session::{Session, Watched};
use worker::Worker;

mod event;
mod keys;
mod prebuild;
mod rounds;
mod runner;
mod saves;
mod screen;
mod session;
mod worker;

/// Watches the learner's files until `q` or Ctrl-C.
///
/// # Errors
/// If the words name something other than a day, the files cannot be read, or cargo cannot be
/// started.
pub(crate) fn watch(root: &Path, curriculum: &Curriculum, words: &Words) -> Result<ExitCode> {
    let status = Status::read(root, curriculum)?;
    let day: Option<&Day> = match words.asked(curriculum, status.day())? {
        None => None,
        Some(Selection::Day(day)) => Some(day),
        Some(Selection::Task(day, id, _)) => bail!(
            "`watch` takes a day and follows its open task: cargo course watch {}; to test {id} \
             alone: cargo course test {} {}",
            day.feature,
            day.feature,
            id.task
        ),
        Some(Selection::Week(_)) => {
            bail!(
                "`watch` takes a day, for example week1-day3; to watch the whole course: cargo \
                 course watch"
            )
        }
    };
    let of_range =
        status.tasks.iter().filter(|task| day.is_none_or(|day| day.feature == task.day.feature));
    let tasks: Vec<Watched> =
        of_range.map(|task| Watched { id: task.id.clone(), done: task.is_done() }).collect();
    let first = tasks.first().context("there is no task to watch")?.id.clone();
    let current = day.map_or_else(|| status.current(), |day| status.current_of(day));
    let current = current.map_or(first, |task| task.id.clone());

    let (sender, inputs) = channel();
    saves::watch_files(&root.join("src"), sender.clone())?;
    let signals = sender.clone();
    ctrlc::set_handler(move || drop(signals.send(Input::Interrupted)))
        .context("signals cannot be caught")?;
    let screen = Screen::open();
    if screen.is_interactive() {
        keys::read_keys(sender.clone());
    } else {
        keys::read_lines(sender.clone());
    }
    let mut worker = Worker::new(root, curriculum, screen, sender);
    let end = rounds::run(&inputs, Session::new(tasks, &current), &mut worker)?;
    Ok(if end == End::Interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS })
}
