//! `course/curriculum.toml`: the single list of weeks, days and tasks.

use std::{fmt, path::Path};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// Where the list stands, relative to the repository.
pub(crate) const PATH: &str = "course/curriculum.toml";

/// The whole course.
#[derive(Debug, Deserialize)]
pub(crate) struct Curriculum {
    /// In order, numbered from 1.
    #[serde(rename = "week")]
    pub(crate) weeks: Vec<Week>,
}

/// One week, one floor of the house: `src/weekN`.
#[derive(Debug, Deserialize)]
pub(crate) struct Week {
    /// From 1.
    pub(crate) number: usize,
    /// As the book has it.
    pub(crate) title: String,
    /// In order.
    #[serde(rename = "day")]
    pub(crate) days: Vec<Day>,
}

/// One day: one Cargo feature, one chapter, one test file, one oracle file.
#[derive(Debug, Deserialize)]
pub(crate) struct Day {
    /// `week1-day3`.
    pub(crate) feature: String,
    /// As the book has it.
    pub(crate) title: String,
    /// Markdown file, relative to the repository.
    pub(crate) chapter: String,
    /// What the learner's model can do once the day is green; one sentence.
    #[serde(default)]
    pub(crate) shows: Option<String>,
    /// In order, numbered from 1.
    #[serde(rename = "task")]
    pub(crate) tasks: Vec<Task>,
}

/// One task: some functions in one file.
#[derive(Debug, Deserialize)]
pub(crate) struct Task {
    /// From 1 within the day.
    pub(crate) number: usize,
    /// A few words.
    pub(crate) title: String,
    /// The learner's file, relative to the repository; the reference's is the same under
    /// `reference/`.
    pub(crate) file: String,
    /// `softmax`, `Embedding::forward`: as the stub's message names them.
    pub(crate) functions: Vec<String>,
    /// One sentence.
    pub(crate) goal: String,
}

/// `week1-day3 task 2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TaskId {
    /// `week1-day3`.
    pub(crate) feature: String,
    /// From 1.
    pub(crate) task: usize,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} task {}", self.feature, self.task)
    }
}

impl TaskId {
    /// Whether the curriculum puts this task into that file.
    pub(crate) fn file_is(&self, path: &str, curriculum: &Curriculum) -> bool {
        curriculum.task(self).is_ok_and(|task| task.file == path)
    }

    /// The text of the stub's `todo!`.
    pub(crate) fn message(&self, function: &str) -> String {
        format!("{self}: {function}")
    }
}

impl Day {
    /// `week1_day3`: the name of the test target, of its file, and of the oracle's module.
    pub(crate) fn module(&self) -> String {
        self.feature.replace('-', "_")
    }

    /// The day's tasks with their ids.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.tasks
            .iter()
            .map(|task| (TaskId { feature: self.feature.clone(), task: task.number }, task))
    }
}

impl Curriculum {
    /// Reads and checks the list.
    ///
    /// # Errors
    /// If the file is missing or malformed, or numbers and names do not follow one another.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(PATH))
            .with_context(|| format!("{PATH} cannot be read"))?;
        Self::parse(&text)
    }

    /// [`Curriculum::load`] from text.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (curriculum, unknown) = Self::parse_newer(text)?;
        ensure!(unknown.is_empty(), "{PATH} is malformed: unknown field {}", unknown.join(", "));
        Ok(curriculum)
    }

    /// [`Curriculum::parse`] for a list that may be newer than this runner: returns the fields that
    /// it does not know.
    pub(crate) fn parse_newer(text: &str) -> Result<(Self, Vec<String>)> {
        let mut unknown = Vec::new();
        let document =
            toml::Deserializer::parse(text).with_context(|| format!("{PATH} is malformed"))?;
        let curriculum: Self =
            serde_ignored::deserialize(document, |field| unknown.push(field.to_string()))
                .with_context(|| format!("{PATH} is malformed"))?;
        for (i, week) in curriculum.weeks.iter().enumerate() {
            ensure!(
                week.number == i + 1,
                "{PATH}: week {} stands where week {} belongs",
                week.number,
                i + 1
            );
            let mut last = 0;
            for day in &week.days {
                let number = day
                    .feature
                    .strip_prefix(&format!("week{}-day", week.number))
                    .and_then(|number| number.parse().ok());
                let expected = format!("week{}-day{}", week.number, last + 1);
                ensure!(
                    number.is_some_and(|number: usize| number > last),
                    "{PATH}: feature {} stands where {expected} belongs",
                    day.feature
                );
                last = number.unwrap_or(last);
                for (k, (id, task)) in day.tasks().enumerate() {
                    ensure!(
                        task.number == k + 1,
                        "{PATH}: {id} stands where task {} belongs",
                        k + 1
                    );
                    let folder = format!("src/week{}/", week.number);
                    ensure!(
                        task.file.starts_with(&folder),
                        "{PATH}: {id}: file {} does not lie in {folder}",
                        task.file
                    );
                    ensure!(!task.functions.is_empty(), "{PATH}: {id} lists no function");
                }
            }
        }
        Ok((curriculum, unknown))
    }

    /// Days that a later one of the same week says must be there, as `week2-day3`: while a week is
    /// written they come as they are ready.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let last = |week: &Week| {
            week.days
                .last()
                .and_then(|day| day.feature.rsplit("day").next()?.parse::<usize>().ok())
                .unwrap_or(0)
        };
        let names = self
            .weeks
            .iter()
            .flat_map(|week| (1..=last(week)).map(|day| format!("week{}-day{day}", week.number)));
        names.filter(|name| !self.days().any(|day| day.feature == *name)).collect()
    }

    /// All days, in order.
    pub(crate) fn days(&self) -> impl Iterator<Item = &Day> {
        self.weeks.iter().flat_map(|week| &week.days)
    }

    /// All tasks, in order.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.days().flat_map(Day::tasks)
    }

    /// The task that a learner names as `week1-day3 2`.
    ///
    /// # Errors
    /// If there is none; the message lists what there is.
    pub(crate) fn named(&self, day: &str, task: usize) -> Result<(&Day, TaskId, &Task)> {
        let day = self.day(day)?;
        let found = day.tasks().find(|(id, _)| id.task == task);
        let (id, task) = found.with_context(|| {
            format!("{} has no task {task}; it has tasks 1 to {}", day.feature, day.tasks.len())
        })?;
        Ok((day, id, task))
    }

    /// The day that a learner names as `week1-day3`.
    ///
    /// # Errors
    /// If there is none; the message lists what there is.
    pub(crate) fn day(&self, name: &str) -> Result<&Day> {
        self.days().find(|day| day.feature == name).with_context(|| {
            let days: Vec<&str> = self.days().map(|day| day.feature.as_str()).collect();
            format!("there is no day {name:?}; there are {}", days.join(", "))
        })
    }

    /// The task of that id, with a message that says what there is instead.
    pub(crate) fn task(&self, id: &TaskId) -> Result<&Task> {
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
    fn the_list_of_this_repository_is_sound() {
        let curriculum = Curriculum::parse(include_str!("../curriculum.toml")).unwrap();
        assert_eq!(curriculum.days().next().unwrap().feature, "week1-day1");
    }

    #[test]
    fn numbers_must_follow_one_another() {
        let text = include_str!("../curriculum.toml").replacen("number = 2", "number = 3", 1);
        let error = Curriculum::parse(&text).unwrap_err().to_string();
        assert!(error.contains("week1-day1 task 3 stands where task 2 belongs"), "{error}");
    }

    #[test]
    fn days_stand_in_order_and_a_gap_is_told() {
        let text = include_str!("../curriculum.toml");
        let error = Curriculum::parse(&text.replacen("week1-day2", "week1-day1", 1))
            .unwrap_err()
            .to_string();
        assert!(error.contains("feature week1-day1 stands where week1-day2 belongs"), "{error}");
        assert!(Curriculum::parse(&text.replacen("week1-day7", "week2-day7", 1)).is_err());
        assert_eq!(
            Curriculum::parse(&text.replacen("week1-day7", "week1-day8", 1)).unwrap().gaps()[0],
            "week1-day7"
        );
    }

    #[test]
    fn an_unknown_field_is_refused() {
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
            "but a newer course may have it"
        );
    }
}
