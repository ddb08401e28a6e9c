//! Collects kinds of values from schemas. Describes why a schema is refused.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use crate::{
    dfa::Raw,
    json::Json,
    nfa::{Nfa, TooLarge},
    node::{Node, NodeId, Nodes, Object},
    number::Numbers,
    pattern::Pattern,
};

/// Why a schema is invalid or not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The position in the schema, as a JSON pointer.
    pub pointer: String,
    /// The problem at that position.
    pub problem: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "its top level" } else { &self.pointer };
        write!(f, "the schema at {place}: {}", self.problem)
    }
}

impl std::error::Error for Refused {}

pub(crate) type Read<T> = Result<T, Refused>;

/// Reads schemas, one document after another.
pub(crate) struct Reader {
    pub(crate) nodes: Nodes,
    /// For each kind, the JSON pointer to the schema from which it was read.
    pointers: Vec<String>,
    /// The kinds that have been read from the document, by their positions in it (JSON pointers).
    pub(crate) known: HashMap<String, NodeId>,
    any: Option<NodeId>,
    /// Each `oneOf` with its branches, which must not overlap.
    pub(crate) exclusive: Vec<(NodeId, Vec<NodeId>)>,
    pub(crate) depth: usize,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self {
            nodes: Nodes::default(),
            pointers: Vec::new(),
            known: HashMap::new(),
            any: None,
            exclusive: Vec::new(),
            depth: 0,
        }
    }

    /// Resolves references between kinds, and checks the result. `root` is the kind of the whole
    /// answer.
    ///
    /// # Errors
    /// If a kind refers only to itself, the branches of a `oneOf` cannot be told apart, no value
    /// matches, or the result is too large.
    pub(crate) fn finish(mut self, root: NodeId) -> Read<Nodes> {
        for id in 0..self.nodes.all.len() as u32 {
            if matches!(self.nodes.node(id), Node::Union(_)) {
                let mut all = Vec::new();
                self.expand(id, &mut Vec::new(), &mut HashSet::new(), &mut all)?;
                self.nodes.all[id as usize] = Node::Union(all);
            }
        }
        self.nodes.finish().map_err(|e| self.too_large(&e, root))?;
        for (one, all) in &self.exclusive {
            for (i, &a) in all.iter().enumerate() {
                for &b in &all[..i] {
                    if !self.nodes.disjoint(a, b) {
                        let problem = "\"oneOf\" is supported only if its branches differ in \
                                       type, or in a required property with \"const\" or \
                                       \"enum\"; otherwise, use \"anyOf\"";
                        return Err(self.refused(*one, problem));
                    }
                }
            }
        }
        if self.nodes.shortest[root as usize].is_none() {
            return Err(self.refused(root, "no value matches this schema"));
        }
        Ok(self.nodes)
    }

    /// Appends the kinds of the union `id` to `to`. Replaces nested unions by their kinds.
    fn expand(
        &self,
        id: NodeId,
        way: &mut Vec<NodeId>,
        seen: &mut HashSet<NodeId>,
        to: &mut Vec<NodeId>,
    ) -> Read<()> {
        if way.contains(&id) {
            return Err(self.refused(id, "it refers to itself directly"));
        }
        if !seen.insert(id) {
            return Ok(());
        }
        let Node::Union(all) = self.nodes.node(id) else {
            to.push(id);
            return Ok(());
        };
        way.push(id);
        for &one in all {
            self.expand(one, way, seen, to)?;
        }
        way.pop();
        Ok(())
    }

    fn refused(&self, id: NodeId, problem: &str) -> Refused {
        Refused { pointer: self.pointers[id as usize].clone(), problem: problem.to_owned() }
    }

    fn too_large(&self, _: &TooLarge, id: NodeId) -> Refused {
        self.refused(id, "its automaton, or its shortest value, becomes too large")
    }

    pub(crate) fn add(&mut self, node: Node, pointer: &str) -> NodeId {
        self.nodes.all.push(node);
        self.pointers.push(pointer.to_owned());
        (self.nodes.all.len() - 1) as NodeId
    }

    /// Returns the kind that every JSON value matches.
    pub(crate) fn any(&mut self) -> NodeId {
        if let Some(any) = self.any {
            return any;
        }
        let id = self.add(Node::Never, "");
        self.any = Some(id);
        let words = [Json::Null, Json::Bool(false), Json::Bool(true)];
        let scalars = [
            self.values(&words.iter().collect::<Vec<_>>()).expect("three words are small"),
            self.number(&Numbers { divisor: 1, ..Numbers::default() }).expect("so is a number"),
        ];
        let object = Object { others: Some(id), ..Object::default() };
        let nodes = scalars.into_iter().chain([
            Node::Text { least: 0, most: None },
            Node::Array { items: id, least: 0, most: None },
            Node::Object(object),
        ]);
        let all = nodes.map(|node| self.add(node, "")).collect();
        self.nodes.all[id as usize] = Node::Union(all);
        id
    }

    /// Returns the kind that the values in `values` match, and no others.
    pub(crate) fn values(&mut self, values: &[&Json]) -> Result<Node, TooLarge> {
        let mut nfa = Nfa::new();
        for value in values {
            let end = nfa.value(0, value);
            nfa.spots[end as usize].tag = Some(0);
            nfa.check()?;
        }
        self.scalar(&Raw::of(&nfa)?)
    }

    pub(crate) fn number(&mut self, numbers: &Numbers) -> Result<Node, TooLarge> {
        let (next, end) = (|s: &_, b| numbers.next(s, b), |s: &_| numbers.is_end(s));
        self.scalar(&Raw::explore(numbers.start(), next, end)?)
    }

    fn scalar(&mut self, raw: &Raw) -> Result<Node, TooLarge> {
        Ok(self.nodes.dfa.add(raw, |_| 0)?.map_or(Node::Never, Node::Scalar))
    }

    /// Returns the kind of strings that match a pattern and have `least` to `most` characters.
    pub(crate) fn pattern(
        &mut self,
        pattern: &Pattern,
        (least, most): (u32, Option<u32>),
    ) -> Result<Node, TooLarge> {
        let mut nfa = Nfa::new();
        let quote = nfa.literal(0, b"\"");
        let behind = pattern.add(&mut nfa, quote)?;
        let end = nfa.literal(behind, b"\"");
        nfa.spots[end as usize].tag = Some(0);
        let mut raw = Raw::of(&nfa)?;
        if least > 0 || most.is_some() {
            let limit = most.unwrap_or(least);
            let counted = |&(place, count): &(u32, u32), byte| {
                let to = raw.next(place, byte)?;
                let count = count + u32::from(raw.between[to as usize]);
                if count > limit && most.is_some() {
                    return None;
                }
                Some((to, count.min(limit)))
            };
            let end = |&(place, n): &(u32, u32)| raw.tags[place as usize].is_some() && n >= least;
            raw = Raw::explore((0, 0), counted, end)?;
        }
        self.scalar(&raw)
    }
}
