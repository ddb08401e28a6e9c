//! Finds the parts of the newer course's CHANGELOG.md that the learner's copy lacks.

/// Path of the changelog, relative to the repository.
pub(super) const PATH: &str = "CHANGELOG.md";

/// Returns the lines of the changelog `newer` that `present` does not have, under the headings of
/// their sections. A section begins with `## `. Returns an empty text if nothing is new.
pub(super) fn new_to(present: &str, newer: &str) -> String {
    let known: Vec<&str> = present.lines().collect();
    let mut news = String::new();
    for section in sections(newer) {
        let new = |line: &&&str| !known.contains(line) && !line.trim().is_empty();
        let lines: Vec<&str> = section[1..].iter().filter(new).copied().collect();
        if !lines.is_empty() {
            let heading = section[0].trim_start_matches("## ");
            news += &format!("\n{heading}\n{}\n", lines.join("\n"));
        }
    }
    news
}

fn sections(text: &str) -> Vec<Vec<&str>> {
    let mut sections: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            sections.push(vec![line]);
        } else if let Some(section) = sections.last_mut() {
            section.push(line);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "# Changes\n\nAbout.\n\n## May\n\n- one\n\n## April\n\n- zero\n";

    #[test]
    fn returns_only_new_lines() {
        assert_eq!(new_to(OLD, OLD), "");
        let newer =
            OLD.replace("- one", "- two\n- one").replace("## May", "## June\n\n- three\n\n## May");
        assert_eq!(new_to(OLD, &newer), "\nJune\n- three\n\nMay\n- two\n");
        assert_eq!(new_to("", OLD), "\nMay\n- one\n\nApril\n- zero\n");
    }

    #[test]
    fn this_repositorys_changelog_has_sections() {
        assert!(!sections(include_str!("../../../CHANGELOG.md")).is_empty());
    }
}
