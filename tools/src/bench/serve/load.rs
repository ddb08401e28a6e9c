//! The clients' requests.

use serde_json::{Value, json};

/// What prompts have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// They have nothing in common.
    Unrelated,
    /// They have a common prefix, such as a system prompt.
    Shared,
}

/// Numbers of tokens of a prompt without a shared prefix, of a shared prefix, and of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) prompt: u16,
    pub(super) shared: u16,
    pub(super) new: u16,
}

/// Number of tokens in a prompt after its shared prefix.
const OWN: u16 = 20;
/// Prompts consist of the [`IDS`] token ids from this one on. Every file has these ids, and none of
/// them ends a text.
const FIRST: u64 = 10;
const IDS: u64 = 240;

impl Load {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unrelated => "unrelated",
            Self::Shared => "shared",
        }
    }

    /// Returns the body of the request `number`, which must differ for each request. If prompts
    /// share a prefix, it is the same for all requests of one `run`.
    pub(super) fn body(self, sizes: &Sizes, run: u64, number: u64) -> Value {
        let prompt: Vec<u64> = match self {
            Self::Unrelated => tokens(1 + number, sizes.prompt).collect(),
            Self::Shared => {
                let shared = tokens((1 << 40) + run, sizes.shared);
                shared.chain(tokens(1 + number, OWN)).collect()
            }
        };
        json!({
            "model": "any",
            "prompt": prompt,
            "max_tokens": sizes.new,
            "temperature": 0,
            "stream": true,
            "stream_options": { "include_usage": true },
        })
    }
}

impl Sizes {
    /// Returns the length of the longest sequence.
    pub(super) fn longest(&self) -> u32 {
        u32::from(self.prompt.max(self.shared + OWN)) + u32::from(self.new)
    }
}

/// Returns `count` pseudo-random ids. The same seed gives the same ids.
fn tokens(seed: u64, count: u16) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..count).map(move |_| {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        FIRST + (bits ^ bits >> 31) % IDS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(load: Load, run: u64, number: u64) -> Vec<u64> {
        let sizes = Sizes { prompt: 128, shared: 500, new: 4 };
        let body = load.body(&sizes, run, number);
        let ids = body["prompt"].as_array().expect("a list").iter();
        ids.map(|id| id.as_u64().expect("a whole number")).collect()
    }

    #[test]
    fn shared_prompts_have_a_common_prefix() {
        let same = |a: &[u64], b: &[u64]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let (one, other) = (prompt(Load::Unrelated, 0, 1), prompt(Load::Unrelated, 0, 2));
        assert!(one.len() == 128 && same(&one, &other) < 3);
        let (one, other) = (prompt(Load::Shared, 0, 1), prompt(Load::Shared, 0, 2));
        assert!(one.len() == 520 && (500..503).contains(&same(&one, &other)));
        assert!(
            same(&one, &prompt(Load::Shared, 1, 1)) < 3,
            "another run shares another beginning"
        );
        assert!(one.iter().all(|id| (FIRST..FIRST + IDS).contains(id)));
    }
}
