//! The fingerprint of the code that a task's tests check. It shows whether an earlier verdict still
//! applies to the present files.
//!
//! It is the 64-bit FNV-1a hash of:
//! - the learner's files that the curriculum lists for the tasks up to and including this one,
//!   without the bodies of functions of *later* tasks, so that work on task 3 does not affect the
//!   verdict on task 1 in the same file;
//! - the day's test files.
//!
//! Before hashing, line endings become `\n`. The hash is implemented here, because the standard
//! library's hash may change from one version to the next.

use std::{collections::HashMap, fs, path::Path};

use crate::{
    curriculum::{Curriculum, TaskId},
    source::{function_body, normalise},
};

const PREFIX: &str = "fnv1a64";

/// Returns the fingerprints of all tasks. A file that cannot be read counts as empty.
pub(crate) fn all(root: &Path, curriculum: &Curriculum) -> HashMap<TaskId, String> {
    let read = |path: &str| {
        normalise(&String::from_utf8_lossy(&fs::read(root.join(path)).unwrap_or_default()))
    };
    let mut owners: Vec<(&str, &str, usize)> = Vec::new();
    for (order, (_, task)) in curriculum.tasks().enumerate() {
        owners.extend(
            task.functions.iter().map(|function| (task.file.as_str(), function.as_str(), order)),
        );
    }
    let (mut files, mut all): (Vec<(&str, Vec<Piece>)>, _) = (Vec::new(), HashMap::new());
    let mut order = 0;
    for day in curriculum.days() {
        let mut tests = Fnv::new();
        day.test_files(root).iter().for_each(|path| tests.text(&read(path)));
        for (id, task) in day.tasks() {
            if !files.iter().any(|(path, _)| *path == task.file) {
                let of_file = owners
                    .iter()
                    .filter(|(path, ..)| *path == task.file)
                    .map(|(_, function, order)| (*function, *order));
                files.push((&task.file, pieces(&read(&task.file), of_file)));
            }
            let mut hash = Fnv::new();
            for (path, pieces) in &files {
                hash.text(path);
                for piece in pieces.iter().filter(|piece| piece.order.is_none_or(|of| of <= order))
                {
                    hash.number(piece.hash);
                }
            }
            hash.number(tests.0);
            all.insert(id, format!("{PREFIX}:{:016x}", hash.0));
            order += 1;
        }
    }
    all
}

/// Consecutive lines: the body of a task's function, or the lines between bodies.
struct Piece {
    /// Index of the body's task in the course. `None` for lines between bodies.
    order: Option<usize>,
    hash: u64,
}

fn pieces<'a>(text: &str, functions: impl Iterator<Item = (&'a str, usize)>) -> Vec<Piece> {
    let lines: Vec<&str> = text.lines().collect();
    let start_of =
        |body: &[&str]| (body.as_ptr() as usize - lines.as_ptr() as usize) / size_of::<&str>();
    let mut bodies: Vec<(usize, usize, usize)> = functions
        .filter_map(|(function, order)| {
            function_body(&lines, function).map(|body| (start_of(body), body.len(), order))
        })
        .collect();
    bodies.sort_unstable();
    let mut pieces = Vec::new();
    let mut add = |order, lines: &[&str]| {
        let mut hash = Fnv::new();
        lines.iter().for_each(|line| hash.text(line));
        pieces.push(Piece { order, hash: hash.0 });
    };
    let mut at = 0;
    for (start, length, order) in bodies {
        add(None, &lines[at.min(start)..start]);
        add(Some(order), &lines[start..start + length]);
        at = start + length;
    }
    add(None, &lines[at..]);
    pieces
}

/// The 64-bit FNV-1a hash.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a text and an end marker, so that the hash of two texts differs from the hash of their
    /// concatenation.
    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(b"\n");
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curriculum, repository, write};

    const A: &str = "use x;\n\n\
                     pub fn one() -> u32 {\n    1\n\
                     }\n\n\
                     impl Two {\n    pub fn two(&self) -> u32 {\n        2\n    }\n\
                     }\n";
    const B: &str = "pub fn three() -> u32 {\n    3\n}\n";

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vectors of the hash's authors.
        for (text, expected) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            let mut hash = Fnv::new();
            hash.bytes(text.as_bytes());
            assert_eq!(hash.0, expected, "{text}");
        }
    }

    /// Returns the numbers (1 to 3) of the tasks whose fingerprints change if `to` replaces `from`
    /// in the file at `path`.
    fn changed(path: &str, from: &str, to: &str) -> Vec<usize> {
        let root = repository();
        let files = [
            ("src/week1/a.rs", A),
            ("src/week1/b.rs", B),
            ("tests/week1_day1.rs", "fn task_1_a() {}\n"),
            ("tests/week1_day2.rs", "fn task_1_b() {}\n"),
            ("tests/week1_day2/task_1.rs", "fn task_1_c() {}\n"),
        ];
        for (path, text) in files {
            write(root.path(), path, text);
        }
        let before = all(root.path(), &curriculum());
        let text = files.iter().find(|(name, _)| *name == path).unwrap().1;
        assert!(text.contains(from));
        write(root.path(), path, &text.replacen(from, to, 1));
        let after = all(root.path(), &curriculum());
        curriculum()
            .tasks()
            .enumerate()
            .filter(|(_, (id, _))| before[id] != after[id])
            .map(|(i, _)| i + 1)
            .collect()
    }

    #[test]
    fn an_edit_changes_only_affected_fingerprints() {
        assert_eq!(changed("src/week1/a.rs", "    1\n", "    7\n"), [1, 2, 3]);
        assert_eq!(
            changed("src/week1/a.rs", "        2\n", "        let two = 1 + 1;\n        two\n"),
            [2, 3]
        );
        assert_eq!(
            changed("src/week1/a.rs", "use x;", "use y;"),
            [1, 2, 3],
            "code outside the tasks may affect all of them"
        );
        assert_eq!(changed("src/week1/b.rs", "    3\n", "    4\n"), [3]);
        assert_eq!(changed("tests/week1_day1.rs", "a", "b"), [1, 2]);
        assert_eq!(changed("tests/week1_day2.rs", "b", "c"), [3]);
        assert_eq!(changed("tests/week1_day2/task_1.rs", "c", "d"), [3]);
        assert_eq!(changed("src/week1/a.rs", "\n", "\r\n"), [0; 0], "line ends do not count");
    }
}
