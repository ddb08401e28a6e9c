//! Day 7. From bytes to tokens: the texts of all tokens in one tree.
//!
//! Tasks here: week3-day7 task 3 (`TokenTrie::insert`, `TokenTrie::walk`). Everything else is
//! provided.

use super::grammar::Grammar;

/// The index of a node in a [`TokenTrie`].
pub type NodeId = usize;

/// The texts of all tokens as a tree of bytes, a *trie*. A prefix that several texts share is
/// stored once. A node represents the bytes on the path from the root to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenTrie {
    nodes: Vec<Node>,
    vocabulary: usize,
}

/// A node of a [`TokenTrie`]. It represents a prefix of one or more texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// Each byte that may follow the prefix, with the node for the prefix plus this byte.
    pub children: Vec<(u8, NodeId)>,
    /// The tokens whose whole text is the prefix. Several tokens may have the same text.
    pub tokens: Vec<u32>,
}

impl TokenTrie {
    /// The root, which represents the empty prefix.
    pub const ROOT: NodeId = 0;

    /// Creates the tree of `texts`. Entry `i` of `texts` is the text of token `i`. Leaves out
    /// tokens with an empty text, such as those that end an answer, begin a turn or pad the
    /// vocabulary.
    #[must_use]
    pub fn new(texts: &[Vec<u8>]) -> Self {
        let mut trie = Self { nodes: vec![Node::default()], vocabulary: texts.len() };
        for (token, text) in (0..).zip(texts).filter(|(_, text)| !text.is_empty()) {
            trie.insert(token, text);
        }
        trie
    }

    /// Returns `V`, the number of tokens, including those without a text.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn num_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// Returns the child of node `id` for `byte`, or `None` if the node has no such child.
    #[must_use]
    pub fn child(&self, id: NodeId, byte: u8) -> Option<NodeId> {
        let children = &self.nodes[id].children;
        children.iter().find(|(first, _)| *first == byte).map(|&(_, child)| child)
    }

    /// Adds `token`, whose text is `text`, to the tree.
    fn insert(&mut self, token: u32, text: &[u8]) {
        todo!("week3-day7 task 3: TokenTrie::insert")
    }

    /// Calls `each(token, next)` for every token whose whole text may follow `state`. `next` is the
    /// state after that token. The order of the calls doesn't matter. Queries the grammar only once
    /// for a prefix that several tokens share. Does not continue a prefix that the grammar rejects.
    pub fn walk<G: Grammar>(
        &self,
        grammar: &G,
        state: &G::State,
        each: &mut dyn FnMut(u32, &G::State),
    ) {
        todo!("week3-day7 task 3: TokenTrie::walk")
    }
}
