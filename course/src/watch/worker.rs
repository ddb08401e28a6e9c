//! Carries out the session's decisions: runs tests, shows texts, updates the record.

use std::{
    collections::HashMap,
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::Sender,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result};

use super::{
    event::Input,
    prebuild::Prebuild,
    rounds::Stage,
    runner::Runner,
    screen::Screen,
    session::{Action, Event},
};
use crate::{
    curriculum::{Curriculum, Day, TaskId},
    engine, fingerprint, hint,
    ink::Ink,
    process::Finished,
    results::Results,
    status::text,
    task_states::Status,
    test_run::{self, TestRun, Verdict},
};

/// The keys and their meanings, in one line of at most 80 columns.
const KEYS: &str = "h hint  l list  n next  p back  r again  a whole day  c chapter  q quit";

/// Address at which `cargo course book` serves the book.
const BOOK: ([u8; 4], u16) = ([127, 0, 0, 1], 3000);

/// Executes the session's actions. Holds the repository, the screen and the current run.
pub(crate) struct Worker<'a> {
    root: &'a Path,
    curriculum: &'a Curriculum,
    ink: Ink,
    screen: Screen,
    runner: Runner,
    ahead: Prebuild,
    run: Option<Running<'a>>,
    /// Results of the last run that ended.
    last: Option<Results<'a>>,
}

struct Running<'a> {
    number: u64,
    day: &'a Day,
    task: Option<usize>,
    /// The fingerprint of each task's code at the beginning of the run.
    fingerprints: HashMap<TaskId, String>,
}

impl<'a> Worker<'a> {
    /// Creates a worker that sends the results of runs to `inputs`.
    pub(crate) fn new(
        root: &'a Path,
        curriculum: &'a Curriculum,
        screen: Screen,
        inputs: Sender<Input>,
    ) -> Self {
        Self {
            root,
            curriculum,
            ink: Ink::of_stdout(),
            screen,
            runner: Runner::new(inputs),
            ahead: Prebuild::default(),
            run: None,
            last: None,
        }
    }

    fn start(&mut self, number: u64, day: &str, task: Option<usize>) -> Result<()> {
        let day = self.curriculum.day(day)?;
        let mut command = test_run::command(self.root, day, task)?;
        if self.ink.has_colour() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let what = match task {
            Some(number) => format!("{} task {number}", day.feature),
            None => format!("all of {}", day.feature),
        };
        if task.is_some() {
            self.screen.clear()?;
        }
        self.screen.pass(&format!("running {what}"))?;
        let fingerprints = fingerprint::all(self.root, self.curriculum);
        self.run = Some(Running { number, day, task, fingerprints });
        self.runner.start(number, command)?;
        // Starts the engine's build after the learner's tests, and reports it once.
        let due = self.ahead.is_due(&engine::program(self.root), self.curriculum, &day.feature);
        if due && self.ahead.begin(self.root) {
            self.show("Building your engine in the background, for your first `cargo llm`.\n")?;
        }
        Ok(())
    }

    fn show(&mut self, text: &str) -> Result<()> {
        self.screen.show(text)
    }

    fn go_to(&mut self, id: &TaskId) -> Result<()> {
        let begun = self.last.as_ref().filter(|results| results.has_failed_since_begun(id));
        let text = match begun {
            Some(results) => results.tell_task(id, self.ink),
            None => {
                let status = Status::read(self.root, self.curriculum)?;
                status.tasks.iter().find(|task| task.id == *id).map(text::brief).unwrap_or_default()
            }
        };
        self.show(&format!("\n{text}"))
    }

    fn day_done(&mut self, day: &str) -> Result<()> {
        let day = self.curriculum.day(day)?;
        let shows =
            day.shows.as_ref().map_or(String::new(), |shows| format!("{}\n", text::wrapped(shows)));
        let headline =
            self.ink.green(&format!("{} is green: all {} tasks.", day.feature, day.tasks.len()));
        self.show(&format!("\n{headline}\n{shows}"))
    }

    fn list(&mut self) -> Result<()> {
        let status = Status::read(self.root, self.curriculum)?;
        let list = text::list(self.curriculum, &status, self.ink, SystemTime::now());
        self.show(&format!("\n{list}"))
    }

    fn hint(&mut self, id: &TaskId) -> Result<()> {
        let text = match hint::next(self.root, self.curriculum.day(&id.feature)?, id, None) {
            Ok((text, true)) => format!("{text}Press h again for the next hint.\n"),
            Ok((text, false)) => text,
            Err(error) => format!("{error:#}\n"),
        };
        self.show(&format!("\n{text}"))
    }

    /// Shows the path of the task's chapter. If the book is built, also shows where the chapter's
    /// page is: its address if the book is served, otherwise its path. On a terminal, opens the
    /// page.
    fn chapter(&mut self, id: &TaskId) -> Result<()> {
        let chapter = &self.curriculum.day(&id.feature)?.chapter;
        let page =
            chapter.trim_start_matches("book/src/").trim_end_matches(".md").to_owned() + ".html";
        let built = self.root.join("book/book").join(&page);
        let served =
            TcpStream::connect_timeout(&SocketAddr::from(BOOK), Duration::from_millis(50)).is_ok();
        let address = match (built.is_file(), served) {
            (true, true) => Some(format!("http://{}/{page}", SocketAddr::from(BOOK))),
            (true, false) => Some(built.display().to_string()),
            (false, _) => None,
        };
        let Some(address) = address else {
            return self
                .show(&format!("\nread  {chapter} (cargo course book builds and serves it)\n"));
        };
        if self.screen.is_interactive() {
            open(&address);
        }
        self.show(&format!("\nread  {chapter}\n      {address}\n"))
    }
}

impl Stage for Worker<'_> {
    fn act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Cancel => {
                self.runner.cancel();
                self.run = None;
                Ok(())
            }
            Action::Start { run, day, task } => self.start(run, &day, task),
            Action::Tell => {
                let text =
                    self.last.as_ref().map_or(String::new(), |results| results.tell(self.ink));
                self.show(&text)
            }
            Action::Regressed(id) => {
                let text = self
                    .last
                    .as_ref()
                    .map_or(String::new(), |results| results.tell_task(&id, self.ink));
                self.show(&format!("\nThis task was green before:\n{text}"))
            }
            Action::GoTo(id) => self.go_to(&id),
            Action::DayDone(day) => self.day_done(&day),
            Action::AllDone => {
                self.show("\nNo task is open here. Press `a` to check the whole day again.\n")
            }
            Action::NoFurther => self.show("There is no task in that direction.\n"),
            Action::Hint(id) => self.hint(&id),
            Action::List => self.list(),
            Action::Chapter(id) => self.chapter(&id),
            Action::Keys => {
                let keys = self.ink.dim(KEYS);
                self.show(&format!("\n{keys}\n"))
            }
            Action::Quit => Ok(()),
        }
    }

    fn step(&mut self, run: u64, step: &str) {
        if self.run.as_ref().is_some_and(|running| running.number == run) {
            self.screen.step(step);
        }
    }

    fn finished(&mut self, run: u64, finished: Result<Finished>) -> Result<Option<Event>> {
        let Some(running) = self.run.take_if(|running| running.number == run) else {
            return Ok(None);
        };
        let finished = finished.context("the tests cannot be run")?;
        let test_run = TestRun::settled(self.root, running.day, running.task, finished)?;
        let results = Results::new(self.root, running.day, running.task, test_run);
        results.remember(self.root, &running.fingerprints);
        let passed = results
            .tasks
            .iter()
            .map(|task| (task.id.clone(), task.verdict == Verdict::Passed))
            .collect();
        self.last = Some(results);
        Ok(Some(Event::Finished { run, passed }))
    }
}

/// Opens a page in the system's browser, without waiting for it.
fn open(address: &str) {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => Command::new("explorer"),
        _ => Command::new("xdg-open"),
    };
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // If the browser can't be opened, the address is still on the screen.
    let _ = command.spawn();
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_keys_fit_80_columns() {
        assert!(super::KEYS.len() <= 80);
    }
}
