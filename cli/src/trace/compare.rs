//! Comparison of two lists of activations, up to the first difference.

use super::{
    difference::{Difference, difference},
    list::Recorded,
};
use tiny_llm_formats::Tensor;

/// The result of comparing one activation.
#[derive(Debug, PartialEq)]
pub(super) enum Event {
    /// The activation is within tolerance.
    Agrees {
        name: String,
        /// Largest difference between two values, divided by the expected tensor's largest
        /// magnitude.
        deviation: f32,
    },
    /// The first activation that is out of tolerance or is not the expected one.
    Differs {
        name: String,
        /// Description of the difference, in several lines.
        words: String,
    },
    /// All activations were compared, and none differs.
    End,
}

/// The state of a comparison.
pub(super) struct Comparison {
    expected: Vec<Recorded>,
    /// The text of each token, if known.
    texts: Vec<String>,
    at: usize,
    differed: bool,
}

impl Comparison {
    pub(super) fn new(expected: Vec<Recorded>, texts: Vec<String>) -> Self {
        Self { expected, texts, at: 0, differed: false }
    }

    /// Compares the next activation. Returns `None` after the first difference, because all later
    /// activations depend on it.
    pub(super) fn next(&mut self, name: &str, found: &Tensor) -> Option<Event> {
        if self.differed {
            return None;
        }
        let difference = match self.expected.get(self.at) {
            None => Difference::list(Some(name), None),
            Some(expected) if expected.name != name => {
                Difference::list(Some(name), Some(&expected.name))
            }
            Some(expected) => match difference(found, expected) {
                Ok(deviation) => {
                    self.at += 1;
                    return Some(Event::Agrees { name: name.to_owned(), deviation });
                }
                Err(difference) => difference,
            },
        };
        self.differed = true;
        Some(Event::Differs { name: name.to_owned(), words: difference.words(name, &self.texts) })
    }

    /// Returns the name of the next expected activation, or `None` after a difference or after the
    /// last activation.
    pub(super) fn upcoming(&self) -> Option<&str> {
        self.expected.get(self.at).filter(|_| !self.differed).map(|expected| expected.name.as_str())
    }

    /// Ends the comparison, after the learner's model has finished. Reports an activation that is
    /// missing.
    pub(super) fn end(&self) -> Event {
        match self.upcoming() {
            Some(missing) => Event::Differs {
                name: missing.to_owned(),
                words: Difference::list(None, Some(missing)).words(missing, &self.texts),
            },
            None => Event::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiny_llm_formats::tensor::tensor;

    fn expected() -> Vec<Recorded> {
        vec![
            Recorded::new("embedding", &tensor(&[1, 2, 2], vec![1.0, 2.0, 3.0, 4.0])),
            Recorded::new("norm", &tensor(&[1, 2, 2], vec![0.5; 4])),
        ]
    }

    fn differs(event: Option<Event>) -> (String, String) {
        match event {
            Some(Event::Differs { name, words }) => (name, words),
            other => panic!("expected a difference, found {other:?}"),
        }
    }

    #[test]
    fn equal_lists_agree_with_their_largest_deviation() {
        let mut comparison = Comparison::new(expected(), Vec::new());
        let embedding =
            comparison.next("embedding", &tensor(&[1, 2, 2], vec![1.0, 2.0, 3.0 + 2e-4, 4.0]));
        let Some(Event::Agrees { name, deviation }) = embedding else { panic!("{embedding:?}") };
        assert_eq!(name, "embedding");
        assert!((deviation - 5e-5).abs() < 1e-6, "{deviation}");
        assert_eq!(comparison.upcoming(), Some("norm"));
        assert_eq!(
            comparison.next("norm", &tensor(&[1, 2, 2], vec![0.5; 4])),
            Some(Event::Agrees { name: "norm".to_owned(), deviation: 0.0 })
        );
        assert_eq!(comparison.end(), Event::End);
    }

    #[test]
    fn the_first_difference_ends_the_comparison() {
        let mut comparison = Comparison::new(expected(), Vec::new());
        let (name, words) =
            differs(comparison.next("embedding", &tensor(&[1, 2, 2], vec![1.0, 2.0, 3.0, 4.001])));
        assert_eq!(name, "embedding");
        assert!(
            words.contains("position 1, dimension 1") && words.contains("1 of 4 numbers"),
            "{words}"
        );
        assert_eq!(comparison.next("norm", &tensor(&[1, 2, 2], vec![9.0; 4])), None);
        assert_eq!((comparison.upcoming(), comparison.end()), (None, Event::End));
    }

    #[test]
    fn reports_lists_with_different_names() {
        let embedding = tensor(&[1, 2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        let mut comparison = Comparison::new(expected(), Vec::new());
        let (name, words) = differs(comparison.next("norm", &embedding));
        assert_eq!(name, "norm");
        assert!(words.contains("found norm, expected embedding"), "{words}");

        let mut comparison = Comparison::new(expected(), Vec::new());
        comparison.next("embedding", &embedding);
        let Event::Differs { name, words } = comparison.end() else { panic!("norm is missing") };
        assert_eq!(name, "norm");
        assert!(words.contains("found the end of the list, expected norm"), "{words}");

        let mut comparison = Comparison::new(expected()[..1].to_vec(), Vec::new());
        comparison.next("embedding", &embedding);
        let (_, words) = differs(comparison.next("more", &embedding));
        assert!(words.contains("found more, expected the end of the list"), "{words}");
    }
}
