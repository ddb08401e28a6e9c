//! `course/curriculum.toml`: the single list of weeks, days and tasks.

use std::{fmt, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};

use crate::{fields::Fields, processor::Processor};

/// Path of the curriculum, relative to the repository.
pub const PATH: &str = "course/curriculum.toml";

/// The whole course.
#[derive(Debug, Default)]
pub struct Curriculum {
    /// Weeks in order, numbered from 1.
    pub weeks: Vec<Week>,
}

/// One week of the course, in `src/weekN`.
#[derive(Debug)]
pub struct Week {
    /// Number, counted from 1.
    pub number: usize,
    /// Title, as in the book.
    pub title: String,
    /// Days in order.
    pub days: Vec<Day>,
}

/// One day: one Cargo feature, one chapter, one test program, one oracle file.
#[derive(Debug)]
pub struct Day {
    /// Name of the feature, such as `week1-day3`.
    pub feature: String,
    /// Title, as in the book.
    pub title: String,
    /// Markdown file, relative to the repository.
    pub chapter: String,
    /// What the learner's model can do after this day, in one sentence. `None` if the curriculum
    /// doesn't say.
    pub shows: Option<String>,
    /// Why the week's feature excludes this day: a library takes minutes to build, for example.
    /// `None` if the week's feature includes the day.
    pub apart: Option<String>,
    /// Tasks in order, numbered from 1.
    pub tasks: Vec<Task>,
}

/// One task: some functions in one file.
#[derive(Debug)]
pub struct Task {
    /// Number within the day, counted from 1.
    pub number: usize,
    /// Title, in a few words.
    pub title: String,
    /// The learner's file, relative to the repository. The reference's file has the same path under
    /// `reference/`.
    pub file: String,
    /// The functions, such as `softmax` and `Embedding::forward`, as in the stub's message.
    pub functions: Vec<String>,
    /// Goal, in one sentence.
    pub goal: String,
    /// Rust's name for the processor architecture on which the task runs. `None` if it runs on all
    /// of them, as most tasks do.
    pub architecture: Option<String>,
    /// The twin's number. The twin is the task of the same day for another processor architecture.
    pub twin: Option<usize>,
}

impl Task {
    /// Returns the processor architecture that the task is for, or `None` if it is for all.
    pub fn processor(&self) -> Option<Processor> {
        Processor::named(self.architecture.as_deref()?)
    }

    /// Returns whether this machine can run the task. If it can't, the task is optional.
    pub fn is_for_here(&self) -> bool {
        self.processor().is_none_or(Processor::is_here)
    }
}

/// Identifies a task: `week1-day3 task 2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The day's feature, such as `week1-day3`.
    pub feature: String,
    /// Number within the day, counted from 1.
    pub task: usize,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} task {}", self.feature, self.task)
    }
}

impl TaskId {
    /// Returns whether `path` is this task's file in the curriculum.
    pub fn file_is(&self, path: &str, curriculum: &Curriculum) -> bool {
        curriculum.task(self).is_ok_and(|task| task.file == path)
    }

    /// Returns the text in the `todo!` of `function`: `week1-day1 task 1: softmax`.
    pub fn message(&self, function: &str) -> String {
        format!("{self}: {function}")
    }
}

impl Day {
    /// Returns the name of the test target, of its file, and of the oracle's module: `week1_day3`.
    pub fn module(&self) -> String {
        self.feature.replace('-', "_")
    }

    /// Returns the files of the day's tests: `tests/week2_day1.rs` and, if one file would be too
    /// long, those in `tests/week2_day1/`, one for each task.
    pub fn test_files(&self, root: &Path) -> Vec<String> {
        let folder = format!("tests/{}", self.module());
        let entries = fs::read_dir(root.join(&folder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut of_tasks: Vec<String> = names
            .filter(|name| name.ends_with(".rs"))
            .map(|name| format!("{folder}/{name}"))
            .collect();
        // Fixed cases come before edge cases and random cases, because they are the most
        // informative.
        of_tasks.sort_by_key(|path| (!path.contains("/task_"), path.clone()));
        [vec![format!("{folder}.rs")], of_tasks].concat()
    }

    /// Returns the day's tasks in the order in which they are offered. Of a task and its twin, the
    /// one for this machine's processor comes at the position of the earlier one. Tasks for other
    /// processors come last.
    pub fn offered(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        let here = self.tasks().filter(|(_, task)| task.is_for_here());
        let mut here: Vec<_> = here.collect();
        here.sort_by_key(|(id, task)| task.twin.unwrap_or(id.task).min(id.task));
        here.into_iter().chain(self.tasks().filter(|(_, task)| !task.is_for_here()))
    }

    /// Checks that a task and its twin are for different processors and name each other.
    fn check_twin(&self, task: &Task) -> Result<()> {
        let Some(architecture) = &task.architecture else {
            ensure!(task.twin.is_none(), "found `twin` without `architecture`");
            return Ok(());
        };
        ensure!(
            task.processor().is_some(),
            "found architecture {architecture:?}, which is unknown"
        );
        let twin = task
            .twin
            .context("found `architecture`, but no `twin` (the same task for another processor)")?;
        let twin = self.tasks.iter().find(|other| other.number == twin);
        let twin = twin.context("`twin` must be the number of a task of the same day")?;
        ensure!(
            twin.twin == Some(task.number) && twin.architecture.is_some(),
            "found twin = {0}, expected task {0} to have twin = {1}",
            twin.number,
            task.number
        );
        ensure!(
            twin.architecture != task.architecture,
            "the task and its twin have the same architecture"
        );
        Ok(())
    }

    /// Returns the day's tasks with their ids.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.tasks
            .iter()
            .map(|task| (TaskId { feature: self.feature.clone(), task: task.number }, task))
    }
}

impl Week {
    fn read(mut fields: Fields, unknown: &mut Vec<String>) -> Result<Self> {
        let days = fields.tables("day")?.into_iter().map(|day| Day::read(day, unknown));
        let week = Self {
            days: days.collect::<Result<_>>()?,
            number: fields.number("number")?,
            title: fields.text("title")?,
        };
        unknown.extend(fields.rest());
        Ok(week)
    }
}

impl Day {
    fn read(mut fields: Fields, unknown: &mut Vec<String>) -> Result<Self> {
        let tasks = fields.tables("task")?.into_iter().map(|task| Task::read(task, unknown));
        let day = Self {
            tasks: tasks.collect::<Result<_>>()?,
            feature: fields.text("feature")?,
            title: fields.text("title")?,
            chapter: fields.text("chapter")?,
            shows: fields.optional_text("shows")?,
            apart: fields.optional_text("apart")?,
        };
        unknown.extend(fields.rest());
        Ok(day)
    }
}

impl Task {
    fn read(mut fields: Fields, unknown: &mut Vec<String>) -> Result<Self> {
        let task = Self {
            number: fields.number("number")?,
            title: fields.text("title")?,
            file: fields.text("file")?,
            functions: fields.texts("functions")?,
            goal: fields.text("goal")?,
            architecture: fields.optional_text("architecture")?,
            twin: fields.optional_number("twin")?,
        };
        unknown.extend(fields.rest());
        Ok(task)
    }
}

impl Curriculum {
    /// Reads and checks the curriculum.
    ///
    /// # Errors
    /// If the file is missing or malformed, or the numbers of weeks, days or tasks are not
    /// consecutive.
    pub fn load(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(PATH))
            .with_context(|| format!("{PATH} cannot be read"))?;
        Self::parse(&text)
    }

    /// Like [`Curriculum::load`], but parses `text`, the text of the file.
    pub fn parse(text: &str) -> Result<Self> {
        let (curriculum, unknown) = Self::parse_newer(text)?;
        ensure!(unknown.is_empty(), "{PATH} is malformed: unknown field {}", unknown.join(", "));
        Ok(curriculum)
    }

    /// Like [`Curriculum::parse`], but accepts the list of a newer course. Also returns the fields
    /// that this runner does not know.
    pub fn parse_newer(text: &str) -> Result<(Self, Vec<String>)> {
        let mut unknown = Vec::new();
        let read = |unknown: &mut Vec<String>| -> Result<Self> {
            let mut file = Fields::parse(text)?;
            let weeks = file.tables("week")?.into_iter().map(|week| Week::read(week, unknown));
            let weeks = weeks.collect::<Result<_>>()?;
            unknown.extend(file.rest());
            Ok(Self { weeks })
        };
        let curriculum = read(&mut unknown).with_context(|| format!("{PATH} is malformed"))?;
        for (i, week) in curriculum.weeks.iter().enumerate() {
            ensure!(
                week.number == i + 1,
                "{PATH}: found week {}, expected week {}",
                week.number,
                i + 1
            );
            for (j, day) in week.days.iter().enumerate() {
                let expected = format!("week{}-day{}", week.number, j + 1);
                ensure!(
                    day.feature == expected,
                    "{PATH}: found feature {}, expected {expected}",
                    day.feature
                );
                for (k, (id, task)) in day.tasks().enumerate() {
                    ensure!(task.number == k + 1, "{PATH}: found {id}, expected task {}", k + 1);
                    let folder = format!("src/week{}/", week.number);
                    ensure!(
                        task.file.starts_with(&folder),
                        "{PATH}: {id}: file {} is not in {folder}",
                        task.file
                    );
                    ensure!(
                        !task.functions.is_empty(),
                        "{PATH}: {id}: field \"functions\": found an empty list, expected at least \
                         one function"
                    );
                    day.check_twin(task).with_context(|| format!("{PATH}: {id}"))?;
                }
            }
        }
        Ok((curriculum, unknown))
    }

    /// Returns the features that together include all days: one for each week, and one for each day
    /// that no week includes.
    pub fn features(&self) -> Vec<String> {
        let weeks = self.weeks.iter().map(|week| format!("week{}", week.number));
        let apart = self.days().filter(|day| day.apart.is_some()).map(|day| day.feature.clone());
        weeks.chain(apart).collect()
    }

    /// Returns all days, in order.
    pub fn days(&self) -> impl Iterator<Item = &Day> {
        self.weeks.iter().flat_map(|week| &week.days)
    }

    /// Returns all tasks, in order.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.days().flat_map(Day::tasks)
    }

    /// Returns task number `task` of `day`, which is a name such as `week1-day3`.
    ///
    /// # Errors
    /// If there is no such day or task. The message says which ones exist.
    pub fn named(&self, day: &str, task: usize) -> Result<(&Day, TaskId, &Task)> {
        let day = self.day(day)?;
        let found = day.tasks().find(|(id, _)| id.task == task);
        let (id, task) = found.with_context(|| {
            format!("{} has no task {task}; it has tasks 1 to {}", day.feature, day.tasks.len())
        })?;
        Ok((day, id, task))
    }

    /// Returns the day that a learner names as `week1-day3`.
    ///
    /// # Errors
    /// If there is no such day. The message lists the existing days.
    pub fn day(&self, name: &str) -> Result<&Day> {
        self.days().find(|day| day.feature == name).with_context(|| {
            let days: Vec<&str> = self.days().map(|day| day.feature.as_str()).collect();
            format!("there is no day {name:?}; the days are {}", days.join(", "))
        })
    }

    /// Returns the task with this id.
    ///
    /// # Errors
    /// If the curriculum has no such task.
    pub fn task(&self, id: &TaskId) -> Result<&Task> {
        let Some(day) = self.days().find(|day| day.feature == id.feature) else {
            bail!("{PATH} has no {}", id.feature);
        };
        day.tasks
            .iter()
            .find(|task| task.number == id.task)
            .with_context(|| format!("{PATH}: {} has no task {}", id.feature, id.task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_a_gap_in_task_numbers() {
        let text = include_str!("../curriculum.toml").replacen("number = 2", "number = 3", 1);
        let error = Curriculum::parse(&text).unwrap_err().to_string();
        assert!(error.contains("found week1-day1 task 3, expected task 2"), "{error}");
    }

    #[test]
    fn rejects_days_out_of_order() {
        let text = include_str!("../curriculum.toml");
        let error = Curriculum::parse(&text.replacen("week1-day2", "week1-day1", 1))
            .unwrap_err()
            .to_string();
        assert!(error.contains("found feature week1-day1, expected week1-day2"), "{error}");
        assert!(Curriculum::parse(&text.replacen("week1-day7", "week2-day7", 1)).is_err());
        assert!(Curriculum::parse(&text.replacen("week1-day7", "week1-day8", 1)).is_err());
    }

    #[test]
    fn checks_twins_and_offers_the_one_for_this_machine() {
        let text = include_str!("../curriculum.toml");
        for (from, to, expected) in [
            ("twin = 4", "twin = 5", "found twin = 5, expected task 5 to have twin = 1"),
            ("twin = 4", "twin = 9", "`twin` must be the number of a task of the same day"),
            (
                "twin = 4\n",
                "",
                "found `architecture`, but no `twin` (the same task for another processor)",
            ),
            ("\"aarch64\"", "\"x86_64\"", "the task and its twin have the same architecture"),
            ("\"aarch64\"", "\"mips\"", "found architecture \"mips\", which is unknown"),
        ] {
            let error =
                format!("{:#}", Curriculum::parse(&text.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains("week2-day6 task") && error.contains(expected), "{error}");
        }
        let curriculum = Curriculum::parse(text).unwrap();
        let offered = curriculum.day("week2-day6").unwrap().offered();
        let offered: Vec<usize> = offered.map(|(id, _)| id.task).collect();
        let expected = match std::env::consts::ARCH {
            "x86_64" => [1, 2, 3, 4, 5],
            "aarch64" => [4, 5, 3, 1, 2],
            _ => [3, 1, 2, 4, 5],
        };
        assert_eq!(offered, expected);
    }

    #[test]
    fn rejects_an_unknown_field() {
        let text = include_str!("../curriculum.toml").replacen("goal = ", "gaol = ", 1);
        let error = format!("{:#}", Curriculum::parse(&text).unwrap_err());
        assert!(error.contains("gaol") || error.contains("goal"), "{error}");
        let text =
            include_str!("../curriculum.toml").replacen("goal = ", "colour = \"red\"\ngoal = ", 1);
        let error = Curriculum::parse(&text).unwrap_err().to_string();
        assert!(error.contains("unknown field week.0.day.0.task.0.colour"), "{error}");
        assert_eq!(
            Curriculum::parse_newer(&text).unwrap().1.len(),
            1,
            "a newer course may have this field"
        );
    }
}
