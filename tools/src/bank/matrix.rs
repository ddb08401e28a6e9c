//! Runs every body of the bank against the tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::RecvTimeoutError,
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use super::{
    Entry, Kind, Wrong,
    answers::Answer,
    by_luck,
    data::{self, Answers},
    tree::{Bank, module},
};
use crate::{curriculum::Curriculum, grade::fresh, libtest::Report, process};

/// Time limit for the tests of one task with a wrong body, which may loop endlessly.
const LIMIT: Duration = Duration::from_secs(600);

/// The result of one wrong body.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) entry: &'a Entry,
    /// Number of tests whose message names the mistake.
    pub(super) named: usize,
    /// Distance of the body's most distinctive answer from the right one, as a multiple of the
    /// tolerance, if there is a tolerance.
    pub(super) distance: Option<f64>,
}

/// The results of all bodies of the bank.
#[derive(Debug, Default)]
pub(super) struct Matrix<'a> {
    pub(super) rows: Vec<Row<'a>>,
    /// Number of correct alternative bodies that passed.
    pub(super) alternates: usize,
    /// Wrong answers of the bank, by file, such as `week1_day3`.
    pub(super) answers: BTreeMap<String, Answers>,
    pub(super) problems: Vec<String>,
}

impl<'a> Matrix<'a> {
    /// Adds results from another processor.
    pub(super) fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.alternates += other.alternates;
        self.answers.extend(other.answers);
        self.problems.extend(other.problems);
    }
}

/// Runs the tests with the body of each entry. Writes their wrong answers to the folder `record`,
/// and checks that messages name the mistakes. Entries of days whose answers have changed run
/// twice.
///
/// # Errors
/// If a program cannot be run.
pub(super) fn run<'a>(
    bank: &Bank,
    curriculum: &Curriculum,
    entries: &'a [Entry],
    record: &Path,
) -> Result<Matrix<'a>> {
    let mut matrix = Matrix::default();
    for entry in entries {
        matrix.answers.entry(super::answers_file(entry, curriculum)).or_default();
    }
    let command = |i: usize, entry: &Entry| bank.tests(entry, i);
    let mut first = each(entries, |i, entry| {
        let mut command = command(i, entry)?;
        let record = record.join(format!("{i}.jsonl"));
        let _ = fs::remove_file(&record);
        let ran = tests(command.env("COURSE_RECORD", &record))?;
        let lines = fs::read_to_string(&record).unwrap_or_default();
        Ok((ran, lines.lines().map(Answer::parse).collect::<Result<Vec<_>>>()?))
    })?;
    let mut lacking = BTreeMap::new();
    for (entry, (ran, _)) in entries.iter().zip(&first) {
        if let Some(reason) = ran.report.not_verified() {
            lacking.insert(&entry.task.feature, reason.to_owned());
        }
    }
    for (day, reason) in &lacking {
        println!("NOT VERIFIED: {day}: {reason}");
    }
    let is_left_out = |entry: &Entry| lacking.contains_key(&entry.task.feature);
    for entry in entries.iter().filter(|entry| is_left_out(entry)) {
        matrix.answers.remove(&super::answers_file(entry, curriculum));
    }
    drop_thin(entries, first.iter_mut().map(|(_, recorded)| recorded));
    let mut answers: Vec<(&Entry, &Wrong, &[Answer])> = Vec::new();
    for (entry, (ran, recorded)) in entries.iter().zip(&first) {
        match &entry.kind {
            _ if is_left_out(entry) => {}
            Kind::Wrong(wrong) => answers.push((entry, wrong, recorded)),
            Kind::Alternate => match ran.refusal(entry) {
                None => matrix.alternates += 1,
                Some(problem) => matrix.problems.push(problem),
            },
        }
    }
    for (entry, wrong, recorded) in answers.iter().filter(|(_, wrong, _)| wrong.shows.is_none()) {
        for answer in *recorded {
            let file = super::answers_file(entry, curriculum);
            matrix.answers.entry(file).or_default().add(answer, wrong);
        }
    }
    matrix.problems.extend(ambiguities(&answers));
    matrix.problems.extend(refused_by_grading(bank, entries, &is_left_out)?);
    let ran_once: BTreeSet<&str> =
        first.iter().flat_map(|(ran, _)| ran.report.passed.keys().map(String::as_str)).collect();
    for entry in entries {
        for test in by_luck(entry).iter().filter(|test| !ran_once.contains(test.as_str())) {
            matrix.problems.push(format!(
                "{}: `by luck:` names the test {test}, which does not exist",
                entry.path
            ));
        }
    }
    // If the answers in the copy are up to date, the first run has already shown the messages.
    fs::create_dir_all(bank.tree().join(data::FOLDER))?;
    let mut anew = BTreeSet::new();
    for (module, (path, answers)) in
        matrix.answers.keys().zip(data::files(bank.tree(), &matrix.answers))
    {
        if !answers.are_in(&path) {
            fs::write(path, answers.bytes())?;
            anew.insert(module.clone());
        }
    }
    let second = each(entries, |i, entry| match entry.kind {
        Kind::Wrong(_)
            if !is_left_out(entry) && anew.contains(&super::answers_file(entry, curriculum)) =>
        {
            tests(&mut command(i, entry)?).map(Some)
        }
        _ => Ok(None),
    })?;
    let ran: Vec<&Ran> =
        first.iter().zip(&second).map(|((ran, _), again)| again.as_ref().unwrap_or(ran)).collect();
    let says: Vec<&str> = answers.iter().map(|(_, wrong, _)| wrong.says.as_str()).collect();
    let of_wrong = entries
        .iter()
        .zip(ran)
        .filter(|(entry, _)| matches!(entry.kind, Kind::Wrong(_)) && !is_left_out(entry));
    for ((entry, wrong, recorded), (_, ran)) in answers.iter().zip(of_wrong) {
        matrix.problems.extend(judge(entry, wrong, ran, &says));
        let named = ran.red().filter(|name| ran.names(name, wrong)).count();
        let distance = recorded.iter().filter_map(|answer| answer.distance).max_by(f64::total_cmp);
        matrix.rows.push(Row { entry, named, distance });
    }
    Ok(matrix)
}

/// Returns a problem for each correct body that `cargo course grade` would reject, because its
/// answers to random inputs differ from the reference's.
fn refused_by_grading(
    bank: &Bank,
    entries: &[Entry],
    is_left_out: &impl Fn(&Entry) -> bool,
) -> Result<Vec<String>> {
    let seed = fresh::seed();
    let of = |module: &str, place| fresh::Answers::of(&mut bank.fresh(module, place)?, &seed);
    let alternates =
        |(_, entry): &(usize, &Entry)| matches!(entry.kind, Kind::Alternate) && !is_left_out(entry);
    let alternates: Vec<_> = entries.iter().enumerate().filter(alternates).collect();
    let modules: BTreeSet<String> = alternates.iter().map(|(_, entry)| module(entry)).collect();
    let modules: Vec<String> = modules.into_iter().collect();
    let reference = each(&modules, |_, module| of(module, None))?;
    let reference: BTreeMap<_, _> = modules.iter().zip(reference).collect();
    let problems = each(&alternates, |_, (place, entry)| {
        let expected = &reference[&module(entry)];
        let answers = of(&module(entry), Some(*place)).map_err(|error| format!("{error:#}"));
        let wrong = match &answers {
            Ok(answers) => answers.difference(expected),
            Err(error) => Some(error.as_str()),
        };
        Ok(wrong.map(|wrong| {
            format!(
                "{}: this alternate differs from the reference on fresh inputs (seed {seed}): \
                 {wrong}",
                entry.path
            )
        }))
    })?;
    Ok(problems.into_iter().flatten().collect())
}

/// Calls `action` for every entry and its index, on all cores. Returns the results in order.
pub(crate) fn each<E: Sync, T: Send>(
    entries: &[E],
    action: impl Fn(usize, &E) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some((i, entry)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, entries.get(i)?)))
        {
            let result = action(i, entry);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Removes a mistake's thin answers (only a few wrong elements) if another check shows it more
/// clearly. A different mistake may give the same thin answer, and would get a wrong diagnosis.
fn drop_thin<'a>(entries: &[Entry], recorded: impl Iterator<Item = &'a mut Vec<Answer>>) {
    let mut all: Vec<_> = entries
        .iter()
        .zip(recorded)
        .filter_map(|(entry, answers)| {
            if let Kind::Wrong(wrong) = &entry.kind {
                Some(((&entry.task.feature, &wrong.says), answers))
            } else {
                None
            }
        })
        .collect();
    let shown =
        |answers: &[Answer]| answers.iter().any(|answer| !answer.thin && !answer.is_constant());
    let clear: BTreeSet<_> =
        all.iter().filter(|(_, answers)| shown(answers)).map(|(mistake, _)| *mistake).collect();
    for (mistake, answers) in &mut all {
        answers.retain(|answer| !answer.thin || !clear.contains(mistake));
    }
}

/// Reports each pair of one day's mistakes that give the same answer in a check. The input of this
/// check is too weak to distinguish them.
fn ambiguities(answers: &[(&Entry, &Wrong, &[Answer])]) -> Vec<String> {
    let mut problems = Vec::new();
    for (i, (entry, wrong, recorded)) in answers.iter().enumerate() {
        for (other_entry, other, other_recorded) in &answers[..i] {
            let comparable = entry.task.feature == other_entry.task.feature
                && wrong.shows.is_none()
                && other.shows.is_none();
            if !comparable || wrong.says == other.says {
                continue;
            }
            let like = |a: &Answer| !a.is_constant() && other_recorded.iter().any(|b| a.is_like(b));
            if let Some(answer) = recorded.iter().find(|a| like(a)) {
                problems.push(format!(
                    "{} and {} give the same answer to {:?}",
                    other_entry.path, entry.path, answer.what
                ));
            }
        }
    }
    problems
}

fn judge(entry: &Entry, wrong: &Wrong, ran: &Ran, says: &[&str]) -> Vec<String> {
    let path = &entry.path;
    if ran.report.passed.is_empty() {
        return vec![format!("{path}: no test ran")];
    }
    if !ran.ended {
        return vec![format!(
            "{path}: the tests exceeded their time limit, but must stop a body that never returns"
        )];
    }
    let mut problems = Vec::new();
    if ran.red().next().is_none() {
        problems.push(format!("{path}: NOT CAUGHT, no test of its task fails"));
    } else if !ran.red().any(|name| ran.names(name, wrong)) {
        let first = ran.red().next().unwrap_or_default();
        let output = ran.report.output(first).unwrap_or_default().trim();
        problems.push(format!(
            "{path}: caught, but no message says {:?}; {first} prints\n{output}",
            wrong.shows.as_ref().unwrap_or(&wrong.says)
        ));
    }
    for name in ran.red() {
        let output = ran.report.output(name).unwrap_or_default();
        let other = says.iter().find(|text| {
            **text != wrong.says
                && output.lines().any(|line| line.trim() == format!("diagnosis {text}"))
        });
        problems
            .extend(other.map(|text| format!("{path}: {name} names another mistake: {text:?}")));
    }
    problems
}

/// Runs the tests with the body of `entry`, whose index in `bank` is `place`, and returns the
/// problems. `says` are all diagnoses of the bank.
///
/// # Errors
/// If a program cannot be run.
pub(super) fn try_one(
    bank: &Bank,
    place: usize,
    entry: &Entry,
    says: &[&str],
) -> Result<Vec<String>> {
    let ran = tests(&mut bank.tests(entry, place)?)?;
    let Kind::Wrong(wrong) = &entry.kind else {
        return Ok(ran.refusal(entry).into_iter().collect());
    };
    Ok(judge(entry, wrong, &ran, says))
}

/// The result of a run of tests.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) report: Report,
    /// Whether the tests finished within the time limit.
    pub(crate) ended: bool,
}

impl Ran {
    pub(crate) fn red(&self) -> impl Iterator<Item = &str> {
        self.report.passed.iter().filter(|(_, passed)| !**passed).map(|(name, _)| name.as_str())
    }

    /// Returns a problem, unless the tests accept the correct body of `entry`.
    fn refusal(&self, entry: &Entry) -> Option<String> {
        let red: Vec<&str> = self.red().collect();
        let accepted = self.ended && red.is_empty() && !self.report.passed.is_empty();
        let tests = red.join(", ");
        (!accepted).then(|| format!("{}: these tests refuse a correct body: {tests}", entry.path))
    }

    /// Returns whether the output of the failed test `test` contains the diagnosis of `wrong`.
    fn names(&self, test: &str, wrong: &Wrong) -> bool {
        let output = self.report.output(test).unwrap_or_default();
        match &wrong.shows {
            Some(part) => output.contains(part.as_str()),
            None => output.lines().any(|line| line.trim() == format!("diagnosis {}", wrong.says)),
        }
    }
}

pub(super) fn tests(command: &mut Command) -> Result<Ran> {
    tests_within(command, LIMIT)
}

/// Runs the test program `command`, and kills it after `limit`.
///
/// # Errors
/// If the program cannot be run, or ends without a report.
pub(crate) fn tests_within(command: &mut Command, limit: Duration) -> Result<Ran> {
    let start = Instant::now();
    let (mut child, lines) = process::start(command)?;
    let (mut text, mut ended) = (String::new(), true);
    loop {
        match lines.recv_timeout(limit.saturating_sub(start.elapsed())) {
            Ok(line) => {
                text += &line.text;
                text.push('\n');
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                ended = false;
                break;
            }
        }
    }
    child.wait()?;
    let report = Report::parse(&text);
    if ended && report.closing.is_empty() {
        bail!("a test program ended without a report:\n{text}");
    }
    Ok(Ran { report, ended })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank;

    /// A test that detects a mistake must detect it in every run. Concurrent threads show a race
    /// only in some runs, so the test that uses them must not be run on mistakes that only cause a
    /// race.
    #[test]
    fn races_leave_out_the_test_with_concurrent_threads() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let entries = bank::load(root, &Curriculum::load(root).unwrap()).unwrap();
        let is_race = |entry: &&Entry| match &entry.kind {
            Kind::Wrong(wrong) => wrong.says.contains("increment it in two steps"),
            Kind::Alternate => false,
        };
        let races: Vec<&Entry> = entries.iter().filter(is_race).collect();
        assert!(!races.is_empty());
        for race in races {
            let left_out = by_luck(race);
            assert_eq!(left_out, ["task_3_threads_write_every_cell_once"], "{}", race.path);
        }
    }
}
