//! The state of a task's functions in a learner's file.

use crate::source::function_body;

/// The state of one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The stub, as generated. Writing it again would lose nothing.
    Untouched,
    /// A stub of an older version, whose message has changed since. Writing it again would lose
    /// nothing.
    Stale,
    /// The reference's body, borrowed and not changed since. It contains none of the learner's
    /// work.
    Borrowed,
    /// The `todo!` is still there, together with some of the learner's work.
    Begun,
    /// The `todo!` is gone.
    Written,
    /// The function is missing, or not formatted like rustfmt's output.
    Missing,
}

impl State {
    /// Returns whether overwriting the function with the stub could lose some of the learner's
    /// work.
    pub fn is_work(self) -> bool {
        matches!(self, Self::Begun | Self::Written | Self::Missing)
    }
}

/// Returns the state of `function` in the text `yours`. `stub` is the text of the unchanged stub. A
/// borrowed function counts as written. Only `Generated::state` recognises it as borrowed.
pub fn function_state(stub: &str, yours: &str, function: &str) -> State {
    let (stub, yours): (Vec<&str>, Vec<&str>) = (stub.lines().collect(), yours.lines().collect());
    let Some(body) = function_body(&yours, function) else { return State::Missing };
    let code = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let body = code(body);
    if function_body(&stub, function).is_some_and(|stub| code(stub) == body) {
        State::Untouched
    } else if !body.iter().any(|line| is_course_todo(line)) {
        State::Written
    } else if body.len() == 1 {
        State::Stale
    } else {
        State::Begun
    }
}

/// Returns whether a line is the `todo!` of a stub: `todo!("week1-day1 task 1: softmax")`.
pub fn is_course_todo(line: &str) -> bool {
    line.trim()
        .strip_prefix("todo!(\"week")
        .is_some_and(|rest| rest.ends_with("\")") && rest.contains(" task "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUB: &str = "pub fn one() -> u32 {\n    todo!(\"week1-day1 task 1: one\")\n}\n";

    fn state(body: &str) -> State {
        function_state(STUB, &format!("pub fn one() -> u32 {{\n{body}}}\n"), "one")
    }

    #[test]
    fn states() {
        assert_eq!(state("    todo!(\"week1-day1 task 1: one\")\n"), State::Untouched);
        assert_eq!(state("    todo!(\"week1-day1 task 2: uno\")\n"), State::Stale);
        assert_eq!(state("    let x = 1;\n    todo!(\"week1-day1 task 1: one\")\n"), State::Begun);
        assert_eq!(state("    // an idea\n    todo!(\"week1-day1 task 1: one\")\n"), State::Begun);
        assert_eq!(state("    todo!()\n"), State::Written);
        assert_eq!(state("    1\n"), State::Written);
        assert_eq!(state(""), State::Written);
        assert_eq!(function_state(STUB, "pub fn uno() {}\n", "one"), State::Missing);
        let other_layout = format!("pub fn one() -> u32 {{ 1 }}\n{}", STUB.replace("one", "two"));
        assert_eq!(
            function_state(STUB, &other_layout, "one"),
            State::Missing,
            "another layout is never an untouched stub"
        );
    }
}
