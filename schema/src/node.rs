//! The compiled form of a schema: kinds of values that refer to each other, and the shortest text
//! of each.

use std::collections::{BTreeSet, HashMap};

use crate::{
    dfa::{Dfa, Raw},
    nfa::{LAST, Nfa, TooLarge, spelled},
};

/// The index of a kind of value.
pub(crate) type NodeId = u32;

/// Maximum length of the shortest text of a kind, in bytes.
pub(crate) const MOST_SHORTEST: usize = 16_384;

/// Maximum number of steps of the search for the shortest texts.
const MOST_WORK: usize = 50_000_000;

/// A kind of value.
#[derive(Debug)]
pub(crate) enum Node {
    /// No value matches.
    Never,
    /// The texts that an automaton accepts from this state: a number, a word, one of a list of
    /// values, or a string with a pattern.
    Scalar(u32),
    /// Any string with `least` to `most` characters.
    Text { least: u32, most: Option<u32> },
    /// An array with `least` to `most` values of the kind `items`.
    Array { items: NodeId, least: u32, most: Option<u32> },
    /// An object with the listed properties in this order, each at most once.
    Object(Object),
    /// A value of any of these kinds.
    Union(Vec<NodeId>),
}

/// The properties of an object.
#[derive(Debug, Default)]
pub(crate) struct Object {
    pub(crate) properties: Vec<Property>,
    /// The kind of all other properties, which come after the listed ones.
    pub(crate) others: Option<NodeId>,
    /// `keys[i]` is the start state of the automaton that reads a key (with quotation marks) if
    /// property `i` is the first listed one that may still follow. It is `None` if no key may
    /// follow. The tag of a listed property's key is the property's index. The tag of any other key
    /// is the number of listed properties.
    pub(crate) keys: Vec<Option<u32>>,
}

/// A property of an object.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) value: NodeId,
    pub(crate) required: bool,
}

impl Object {
    /// Returns the index of the first required property from index `at` on.
    pub(crate) fn required(&self, at: usize) -> Option<usize> {
        (at..self.properties.len()).find(|&i| self.properties[i].required)
    }

    /// Returns the kind of the value that follows a key with this tag.
    pub(crate) fn value(&self, tag: usize) -> NodeId {
        match self.properties.get(tag) {
            Some(property) => property.value,
            None => self.others.expect("other keys are read only if they are allowed"),
        }
    }

    /// Returns the index of the first listed property that may follow the property with this tag.
    pub(crate) fn behind(&self, tag: usize) -> usize {
        (tag + 1).min(self.properties.len())
    }
}

/// All kinds of values of a schema, and their automata.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    pub(crate) all: Vec<Node>,
    pub(crate) dfa: Dfa,
    /// The shortest text of each kind that has a value. Of several, the first in byte order.
    pub(crate) shortest: Vec<Option<Vec<u8>>>,
}

impl Nodes {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.all[id as usize]
    }

    /// Returns the shortest text of kind `id`, which must have a value.
    pub(crate) fn shortest(&self, id: NodeId) -> &[u8] {
        self.shortest[id as usize].as_deref().expect("kinds without a value were removed")
    }

    fn has(&self, id: NodeId) -> bool {
        self.shortest[id as usize].is_some()
    }

    /// Finds the shortest texts, removes kinds without a value, and creates the automata of keys.
    ///
    /// # Errors
    /// If a text or an automaton becomes too large.
    pub(crate) fn finish(&mut self) -> Result<(), TooLarge> {
        self.shortest = vec![None; self.all.len()];
        // Each round finds the shortest texts of kinds with one more level of nesting.
        let mut work = 0;
        loop {
            let mut changed = false;
            for id in (0..self.all.len()).rev() {
                let found = self.find(id)?;
                work += 1 + found.as_ref().map_or(0, Vec::len);
                if work > MOST_WORK {
                    return Err(TooLarge);
                }
                let better = match (&found, &self.shortest[id]) {
                    (Some(new), Some(old)) => (new.len(), new) < (old.len(), old),
                    (found, _) => found.is_some(),
                };
                if better {
                    self.shortest[id] = found;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for id in 0..self.all.len() {
            let mut node = std::mem::replace(&mut self.all[id], Node::Never);
            match &mut node {
                Node::Array { items, most, .. } if !self.has(*items) => *most = Some(0),
                Node::Union(all) => all.retain(|&one| self.has(one)),
                Node::Object(object) if self.has(id as u32) => self.make_keys(object)?,
                _ => {}
            }
            self.all[id] = node;
        }
        Ok(())
    }

    /// Finds the shortest text of kind `id`, given those of other kinds that were found so far.
    fn find(&self, id: usize) -> Result<Option<Vec<u8>>, TooLarge> {
        let mut text = Vec::new();
        match &self.all[id] {
            Node::Never => return Ok(None),
            Node::Scalar(start) => {
                self.dfa.close(*start, &mut text);
            }
            Node::Text { least, .. } => {
                text = format!("\"{}\"", " ".repeat(*least as usize)).into_bytes();
            }
            Node::Array { items, least, .. } => {
                let item = match (&self.shortest[*items as usize], least) {
                    (_, 0) => &Vec::new(),
                    (Some(item), _) => item,
                    (None, _) => return Ok(None),
                };
                if (item.len() + 1) * *least as usize > MOST_SHORTEST {
                    return Err(TooLarge);
                }
                text = [b"[", &vec![&item[..]; *least as usize].join(&b","[..])[..], b"]"].concat();
            }
            Node::Object(object) => {
                text.push(b'{');
                for property in object.properties.iter().filter(|property| property.required) {
                    let value = &self.shortest[property.value as usize];
                    let Some(value) = value else { return Ok(None) };
                    if text.len() > 1 {
                        text.push(b',');
                    }
                    text.extend_from_slice(spelled(&property.name).as_bytes());
                    text.push(b':');
                    text.extend_from_slice(value);
                }
                text.push(b'}');
            }
            Node::Union(all) => {
                let known = all.iter().filter_map(|&one| self.shortest[one as usize].as_ref());
                return Ok(known.min_by_key(|text| (text.len(), *text)).cloned());
            }
        }
        if text.len() > MOST_SHORTEST { Err(TooLarge) } else { Ok(Some(text)) }
    }

    fn make_keys(&mut self, object: &mut Object) -> Result<(), TooLarge> {
        object.others = object.others.filter(|&others| self.has(others));
        let names: Vec<String> = object.properties.iter().map(|one| spelled(&one.name)).collect();
        let count = names.len();
        // A tag for names that are not allowed at this index, or not at all.
        let forbidden = count as u32 + 1;
        for at in 0..=count {
            let last = object.required(at).map_or(count, |last| last + 1);
            let others = object.others.is_some() && object.required(at).is_none();
            let mut nfa = Nfa::new();
            for (i, name) in names.iter().enumerate() {
                let possible = (at..last).contains(&i) && self.has(object.properties[i].value);
                if possible || others {
                    let end = nfa.literal(0, name.as_bytes());
                    nfa.spots[end as usize].tag = Some(if possible { i as u32 } else { forbidden });
                }
            }
            if others {
                let (quote, end) = (nfa.literal(0, b"\""), nfa.spot());
                let behind = nfa.character(quote, &[(0, LAST)]);
                nfa.free(behind, quote);
                nfa.edge(quote, (b'"', b'"'), end);
                // This is the largest tag, so that the tag of a listed property takes precedence.
                nfa.spots[end as usize].tag = Some(u32::MAX);
            }
            let mut raw = Raw::of(&nfa)?;
            for tag in &mut raw.tags {
                *tag = match *tag {
                    Some(u32::MAX) => Some(count as u32),
                    Some(tag) if tag == forbidden => None,
                    tag => tag,
                };
            }
            let cost = |tag: usize| {
                let mut rest = Vec::new();
                self.close_object(object, object.behind(tag), true, &mut rest);
                (1 + self.shortest(object.value(tag)).len() + rest.len()) as u32
            };
            let tags: BTreeSet<u32> = raw.tags.iter().copied().flatten().collect();
            let costs: HashMap<u32, u32> =
                tags.into_iter().map(|tag| (tag, cost(tag as usize))).collect();
            let start = self.dfa.add(&raw, |tag| costs[&tag]);
            object.keys.push(start?);
        }
        Ok(())
    }

    /// Appends what an object still needs after a value or its opening brace: the missing required
    /// properties from index `at` on, and the closing brace. `comma` says whether the first of
    /// these properties needs a comma before it.
    pub(crate) fn close_object(
        &self,
        object: &Object,
        at: usize,
        mut comma: bool,
        text: &mut Vec<u8>,
    ) {
        for property in object.properties[at..].iter().filter(|property| property.required) {
            if std::mem::replace(&mut comma, true) {
                text.push(b',');
            }
            text.extend_from_slice(spelled(&property.name).as_bytes());
            text.push(b':');
            text.extend_from_slice(self.shortest(property.value));
        }
        text.push(b'}');
    }
}

impl Nodes {
    /// Returns whether it is certain that no value is of both kinds.
    pub(crate) fn disjoint(&self, a: NodeId, b: NodeId) -> bool {
        let (first, second) = (self.kinds(a), self.kinds(b));
        first.iter().all(|&a| second.iter().all(|&b| self.apart(a, b)))
    }

    /// Returns the kinds that a union consists of. For any other kind, returns only that kind, or
    /// nothing if it has no value.
    fn kinds(&self, id: NodeId) -> Vec<NodeId> {
        let one = if self.has(id) { vec![id] } else { Vec::new() };
        if let Node::Union(all) = self.node(id) { all.clone() } else { one }
    }

    fn apart(&self, a: NodeId, b: NodeId) -> bool {
        match (self.node(a), self.node(b)) {
            (Node::Scalar(a), Node::Scalar(b)) => !self.dfa.meet(*a, *b),
            (Node::Object(a), Node::Object(b)) => a.properties.iter().any(|mine| {
                let other = b.properties.iter().find(|other| other.name == mine.name);
                let both = other.filter(|other| mine.required && other.required);
                both.is_some_and(|other| self.scalars_apart(mine.value, other.value))
            }),
            (a, b) => {
                let (a, b) = (self.first_bytes(a), self.first_bytes(b));
                a.iter().all(|byte| !b.contains(byte))
            }
        }
    }

    /// Like [`Nodes::disjoint`], but never looks into objects, so that it terminates. It treats any
    /// two objects as overlapping.
    fn scalars_apart(&self, a: NodeId, b: NodeId) -> bool {
        let (first, second) = (self.kinds(a), self.kinds(b));
        first.iter().all(|&a| {
            second.iter().all(|&b| match (self.node(a), self.node(b)) {
                (Node::Object(_), Node::Object(_)) => false,
                _ => self.apart(a, b),
            })
        })
    }

    fn first_bytes(&self, node: &Node) -> Vec<u8> {
        match node {
            Node::Never | Node::Union(_) => Vec::new(),
            Node::Scalar(start) => {
                let edges = self.dfa.edges(*start);
                edges.iter().flat_map(|&(first, last, _)| first..=last).collect()
            }
            Node::Text { .. } => vec![b'"'],
            Node::Array { .. } => vec![b'['],
            Node::Object(_) => vec![b'{'],
        }
    }
}
