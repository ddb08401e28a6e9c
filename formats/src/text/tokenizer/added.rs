//! Added tokens, such as `<|im_end|>`. They are found in a text before anything else is done.

use super::vocabulary::{Kind, Vocabulary};

/// Tokens that are searched for by their exact spelling.
pub(super) struct AddedTokens {
    /// The tokens' ids, longer tokens first.
    ids: Vec<u32>,
    /// For each byte, whether a token begins with it.
    begins: [bool; 256],
}

impl AddedTokens {
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let is = |id: &u32| {
            matches!(vocabulary.kind(*id), Kind::Control | Kind::UserDefined | Kind::Unknown)
        };
        let mut ids: Vec<u32> = (0..vocabulary.len() as u32)
            .filter(is)
            .filter(|id| !vocabulary.bytes_of(*id).is_empty())
            .collect();
        ids.sort_by_key(|id| std::cmp::Reverse(vocabulary.bytes_of(*id).len()));
        let mut begins = [false; 256];
        for id in &ids {
            begins[vocabulary.bytes_of(*id)[0] as usize] = true;
        }
        Self { ids, begins }
    }

    /// Returns the position and the id of the first added token at or after `from`. If several
    /// begin at the same position, returns the longest.
    pub(super) fn first(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        from: usize,
    ) -> Option<(usize, u32)> {
        let text = text.as_bytes();
        let places = (from..text.len()).filter(|&at| self.begins[text[at] as usize]);
        places.into_iter().find_map(|at| {
            let id =
                self.ids.iter().find(|id| text[at..].starts_with(vocabulary.bytes_of(**id)))?;
            Some((at, *id))
        })
    }
}
