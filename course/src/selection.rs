//! The words with which a learner names a week, a day or a task: `week1-day2 3`, `day2`, `week1`,
//! `softmax`, `week1-day1 softmax`, `3`.

use anyhow::{Context, Result, bail, ensure};

use crate::curriculum::{Curriculum, Day, Task, TaskId, Week};

/// Words that name a week, a day or a task, as typed. No words mean the current task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words(pub(crate) Vec<String>);

/// The selected week, day or task.
#[derive(Debug, Clone)]
pub(crate) enum Selection<'a> {
    Week(&'a Week),
    Day(&'a Day),
    Task(&'a Day, TaskId, &'a Task),
}

impl Words {
    /// Returns the selection, or `None` if there are no words. `here` is the learner's current day.
    /// `day2` means a day of the current week, and `3` means a task of the current day.
    ///
    /// # Errors
    /// If the words select nothing, or more than one thing.
    pub(crate) fn asked<'a>(
        &self,
        curriculum: &'a Curriculum,
        here: Option<&'a Day>,
    ) -> Result<Option<Selection<'a>>> {
        // Messages name a task as `week1-day2 task 3`, so skip the word `task`.
        let words: Vec<&str> = self.0.iter().map(String::as_str).filter(|w| *w != "task").collect();
        Ok(Some(match words[..] {
            [] => {
                ensure!(self.0.is_empty(), "which task? Name it like this: week1-day2 3");
                return Ok(None);
            }
            [one] => first(curriculum, here, one)?,
            [first_word, second] => match first(curriculum, here, first_word)? {
                Selection::Day(day) => task_of(day, second)?,
                _ => bail!(
                    "{first_word} {second}: expected a day and a task, for example week1-day2 3"
                ),
            },
            _ => bail!("expected a day and a task, for example week1-day2 3"),
        }))
    }

    /// Like [`Words::asked`], but accepts only words that select a single task.
    ///
    /// # Errors
    /// If [`Words::asked`] fails. Also if the words select a week or a day.
    pub(crate) fn task<'a>(
        &self,
        curriculum: &'a Curriculum,
        here: Option<&'a Day>,
    ) -> Result<Option<(&'a Day, TaskId, &'a Task)>> {
        match self.asked(curriculum, here)? {
            None => Ok(None),
            Some(Selection::Task(day, id, task)) => Ok(Some((day, id, task))),
            Some(Selection::Day(day)) => {
                let tasks = day.tasks.len();
                bail!(
                    "which task of {0}? It has tasks 1 to {tasks}; for example: {0} 1",
                    day.feature
                )
            }
            Some(Selection::Week(week)) => bail!(
                "which task of week {}? Name it like this: week{}-day1 1",
                week.number,
                week.number
            ),
        }
    }
}

impl<'a> Selection<'a> {
    /// Returns the selected tasks, in order.
    pub(crate) fn tasks(&self) -> Vec<(TaskId, &'a Task)> {
        match self {
            Self::Week(week) => week.days.iter().flat_map(Day::tasks).collect(),
            Self::Day(day) => day.tasks().collect(),
            Self::Task(_, id, task) => vec![(id.clone(), *task)],
        }
    }

    /// Formats the selection as it would be typed: `week1-day2 3`.
    pub(crate) fn typed(&self) -> String {
        match self {
            Self::Week(week) => format!("week{}", week.number),
            Self::Day(day) => day.feature.clone(),
            Self::Task(_, id, _) => format!("{} {}", id.feature, id.task),
        }
    }
}

/// Returns what a single word selects. `here` is the learner's current day.
fn first<'a>(
    curriculum: &'a Curriculum,
    here: Option<&'a Day>,
    word: &str,
) -> Result<Selection<'a>> {
    // The names of test targets and files also select days.
    let name = word.to_lowercase().replace('_', "-");
    if let Ok(day) = curriculum.day(&name) {
        return Ok(Selection::Day(day));
    }
    if let Some(week) = curriculum.weeks.iter().find(|week| name == format!("week{}", week.number))
    {
        return Ok(Selection::Week(week));
    }
    if let Some(number) = name.strip_prefix("day").filter(|number| is_number(number)) {
        let week = here.or(curriculum.days().next()).and_then(|day| day.feature.split('-').next());
        let week = week.context("the course has no days")?;
        return Ok(Selection::Day(curriculum.day(&format!("{week}-day{number}"))?));
    }
    if let Some(number) = name.strip_prefix("task-").or(Some(&*name)).filter(|n| is_number(n)) {
        let day = here.with_context(|| {
            format!("task {number} of which day? Name both, for example week1-day1 {number}")
        })?;
        return task_of(day, number);
    }
    let of_day =
        |day: &'a Day| task_with(day, word).map(|(id, task)| Selection::Task(day, id, task));
    let mut found: Vec<Selection> = curriculum.days().filter_map(of_day).collect();
    match (found.pop(), found.is_empty()) {
        (Some(task), true) => Ok(task),
        (Some(last), false) => {
            found.push(last);
            let places: Vec<String> = found.iter().map(Selection::typed).collect();
            bail!(
                "more than one task has a function {word}; name one of these tasks: {}",
                places.join(", ")
            )
        }
        (None, _) => {
            let days: Vec<&str> = curriculum.days().map(|day| day.feature.as_str()).collect();
            bail!(
                "there is no day, task or function {word:?}; name a day ({}), a task (week1-day2 \
                 3), or a function that you write",
                days.join(", ")
            )
        }
    }
}

/// Finds the task of `day` whose number is `word`, or that has a function named `word`.
fn task_of<'a>(day: &'a Day, word: &str) -> Result<Selection<'a>> {
    let number = word.strip_prefix("task_").or(word.strip_prefix("task-")).unwrap_or(word);
    let found = match number.parse::<usize>() {
        Ok(number) => day.tasks().find(|(id, _)| id.task == number),
        Err(_) => task_with(day, word),
    };
    let (id, task) = found.with_context(|| {
        let all = |task: &Task| format!("{}: {}", task.number, task.functions.join(", "));
        let tasks: Vec<String> = day.tasks.iter().map(all).collect();
        format!("{} has no task {word}; it has {}", day.feature, tasks.join("; "))
    })?;
    Ok(Selection::Task(day, id, task))
}

/// Finds the task of `day` that has this function. The function is named with or without its type.
fn task_with<'a>(day: &'a Day, function: &str) -> Option<(TaskId, &'a Task)> {
    let is = |own: &String| own == function || own.rsplit("::").next() == Some(function);
    day.tasks().find(|(_, task)| task.functions.iter().any(is))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    fn asked(words: &str) -> Result<String> {
        let curriculum = curriculum();
        let here = curriculum.days().nth(1);
        let words = Words(words.split_whitespace().map(str::to_owned).collect());
        Ok(words.asked(&curriculum, here)?.map_or("here".to_owned(), |asked| asked.typed()))
    }

    #[test]
    fn accepts_several_names_of_weeks_days_and_tasks() {
        for (words, expected) in [
            ("", "here"),
            ("week1-day1", "week1-day1"),
            ("week1_day1", "week1-day1"),
            ("day1", "week1-day1"),
            ("Day2", "week1-day2"),
            ("week1", "week1"),
            ("week1-day1 2", "week1-day1 2"),
            ("week1-day1 task 2", "week1-day1 2"),
            ("week1-day1 task_2", "week1-day1 2"),
            ("week1-day1 one", "week1-day1 1"),
            ("Two::two", "week1-day1 2"),
            ("two", "week1-day1 2"),
            ("1", "week1-day2 1"),
            ("task_1", "week1-day2 1"),
        ] {
            assert_eq!(asked(words).unwrap(), expected, "{words}");
        }
    }

    #[test]
    fn rejects_unknown_names_and_lists_known_ones() {
        for (words, part) in [
            ("softmux", "there is no day, task or function \"softmux\"; name a day (week1-day1, "),
            ("week1-day1 softmux", "week1-day1 has no task softmux; it has 1: one; 2: Two::two"),
            ("week1-day1 7", "week1-day1 has no task 7; it has 1: one"),
            ("7", "week1-day2 has no task 7"),
            ("day7", "there is no day \"week1-day7\""),
            ("week1 2", "expected a day and a task"),
            ("task", "which task?"),
            ("a b c", "expected a day and a task"),
        ] {
            let error = asked(words).unwrap_err().to_string();
            assert!(error.contains(part), "{words}: {error}");
        }
        let curriculum = curriculum();
        let words = Words(vec!["day1".to_owned()]);
        let error = words.task(&curriculum, curriculum.days().next()).unwrap_err().to_string();
        assert_eq!(
            error,
            "which task of week1-day1? It has tasks 1 to 2; for example: week1-day1 1"
        );
    }
}
