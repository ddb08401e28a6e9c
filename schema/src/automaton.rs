//! Parses a value byte by byte, and determines which bytes may follow.

use std::sync::Arc;

use crate::{
    nfa::Nfa,
    node::{Node, NodeId, Nodes, Object},
    stack::{Frame, Link, Stack},
};

/// Maximum nesting of objects and arrays. At greater depth, all bytes are those of the shortest
/// completion, except within keys, strings and numbers.
pub const MOST_DEPTH: usize = 64;
/// Maximum number of parallel parses of a text. If there are more, those with the shortest
/// completions are kept.
const MOST_THREADS: usize = 256;

/// Position in the text that one parse has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// Before a value of this kind. The flag says whether a space may come first.
    Value(NodeId, bool),
    /// In a scalar, in this state of its automaton.
    Scalar(u32),
    /// In a string of this kind. The first number is the state of the automaton that reads the next
    /// character. The second is the number of characters before that one. The count stops once a
    /// larger one would change nothing.
    Text(NodeId, u32, u32),
    /// After `{`.
    FirstKey,
    /// After the comma of an object. The flag says whether a space may come first.
    Key(bool),
    /// In a key, in this state of its automaton.
    KeyText(u32),
    /// After the key of the property with this tag.
    Colon(u32),
    /// After `[`.
    FirstItem,
    /// After a value.
    End,
}

/// One parse of the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Thread {
    place: Place,
    stack: Stack,
}

/// The state after some bytes of a value: all possible parses of these bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Position(Threads);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Threads {
    /// A single parse, the most common case.
    One(Thread),
    Several(Arc<[Thread]>),
}

impl Position {
    fn threads(&self) -> &[Thread] {
        match &self.0 {
            Threads::One(thread) => std::slice::from_ref(thread),
            Threads::Several(all) => all,
        }
    }
}

/// The automaton of a kind of value.
#[derive(Debug)]
pub(crate) struct Automaton {
    nodes: Nodes,
    root: NodeId,
    /// The state at the beginning of a character in a string.
    character: u32,
}

impl Automaton {
    /// Creates the automaton of kind `root`. Returns `None` if `nodes` has no room for the
    /// automaton that reads the characters of strings.
    pub(crate) fn new(mut nodes: Nodes, root: NodeId) -> Option<Self> {
        let mut nfa = Nfa::new();
        let end = nfa.any_spelling(0);
        nfa.spots[end as usize].tag = Some(0);
        let raw = crate::dfa::Raw::of(&nfa).ok()?;
        let character = nodes.dfa.add(&raw, |_| 0).ok()??;
        Some(Self { nodes, root, character })
    }

    /// Returns the number of states of all automata in `nodes`.
    pub(crate) fn len(&self) -> usize {
        self.nodes.dfa.len()
    }

    pub(crate) fn start(&self) -> Position {
        Position(Threads::One(Thread { place: Place::Value(self.root, false), stack: None }))
    }

    pub(crate) fn next(&self, position: &Position, byte: u8) -> Option<Position> {
        let mut found = Vec::new();
        for thread in position.threads() {
            self.step(thread, byte, &mut found);
        }
        match found.len() {
            0 => None,
            1 => Some(Position(Threads::One(found.swap_remove(0)))),
            _ => self.several(found),
        }
    }

    /// Creates the position with the parses in `found`. Removes duplicates and, if there are too
    /// many parses, those with the longest completions.
    fn several(&self, found: Vec<Thread>) -> Option<Position> {
        let mut all: Vec<Thread> = Vec::new();
        for thread in found {
            if !all.contains(&thread) {
                all.push(thread);
            }
        }
        if all.len() > MOST_THREADS {
            all.sort_by_cached_key(|thread| {
                let text = self.closing(thread);
                (text.len(), text)
            });
            all.truncate(MOST_THREADS);
        }
        let one = all.len() == 1;
        Some(Position(match one {
            true => Threads::One(all.swap_remove(0)),
            false => Threads::Several(all.into()),
        }))
    }

    pub(crate) fn is_complete(&self, position: &Position) -> bool {
        position.threads().iter().any(|thread| {
            let ended = match thread.place {
                Place::End => true,
                Place::Scalar(at) => self.nodes.dfa.tag(at).is_some(),
                _ => false,
            };
            ended && thread.stack.is_none()
        })
    }

    pub(crate) fn is_over(&self, position: &Position) -> bool {
        let over = |thread: &Thread| thread.place == Place::End && thread.stack.is_none();
        position.threads().iter().all(over)
    }

    /// Returns the shortest completion of the value. Of several, returns the first in byte order.
    pub(crate) fn closing_text(&self, position: &Position) -> Vec<u8> {
        let texts = position.threads().iter().map(|thread| self.closing(thread));
        texts.min_by(|a, b| (a.len(), a).cmp(&(b.len(), b))).unwrap_or_default()
    }

    fn object(&self, id: NodeId) -> &Object {
        let Node::Object(object) = self.nodes.node(id) else { unreachable!("it is an object") };
        object
    }

    fn array(&self, id: NodeId) -> (NodeId, u32, Option<u32>) {
        let Node::Array { items, least, most } = self.nodes.node(id) else {
            unreachable!("it is an array")
        };
        (*items, *least, *most)
    }

    fn text(&self, id: NodeId) -> (u32, Option<u32>) {
        let Node::Text { least, most } = self.nodes.node(id) else {
            unreachable!("it is a string")
        };
        (*least, *most)
    }

    /// Returns a parse's innermost open object, its id, and the index of its first property that
    /// may still follow.
    fn inner(&self, thread: &Thread) -> (&Object, NodeId, usize) {
        match thread.stack.as_ref().map(|link| link.frame) {
            Some(Frame::Object(id, at)) => (self.object(id), id, at as usize),
            _ => unreachable!("a key is in an object"),
        }
    }

    fn step(&self, thread: &Thread, byte: u8, to: &mut Vec<Thread>) {
        let Thread { place, stack } = thread;
        let at = |place| Thread { place, stack: stack.clone() };
        let structure = !matches!(place, Place::Scalar(_) | Place::Text(..) | Place::KeyText(_));
        let deep = stack.as_ref().is_some_and(|link| link.depth > MOST_DEPTH);
        if structure && deep && self.closing(thread).first() != Some(&byte) {
            return;
        }
        match *place {
            Place::Value(node, true) if byte == b' ' => to.push(at(Place::Value(node, false))),
            Place::Value(node, _) => self.begin(node, byte, stack, to),
            Place::Scalar(place) => match self.nodes.dfa.next(place, byte) {
                Some(place) => to.push(self.scalar(place, stack)),
                // A number ends at the first byte that does not belong to it.
                None if self.nodes.dfa.tag(place).is_some() => {
                    self.step(&at(Place::End), byte, to);
                }
                None => {}
            },
            Place::Text(node, place, count) => {
                let (least, most) = self.text(node);
                let between = place == self.character;
                if between && byte == b'"' {
                    if count >= least {
                        to.push(at(Place::End));
                    }
                } else if !between || most.is_none_or(|most| count < most) {
                    let next = self.nodes.dfa.next(place, byte);
                    to.extend(next.map(|place| at(self.behind_byte(node, place, count))));
                }
            }
            Place::FirstKey if byte == b'}' => {
                let (object, _, at) = self.inner(thread);
                if object.required(at).is_none() {
                    to.push(close(stack));
                }
            }
            Place::Key(true) if byte == b' ' => to.push(at(Place::Key(false))),
            Place::FirstKey | Place::Key(_) => {
                let (object, _, from) = self.inner(thread);
                let next = object.keys[from].and_then(|key| self.nodes.dfa.next(key, byte));
                to.extend(next.map(|key| at(Place::KeyText(key))));
            }
            Place::KeyText(key) => {
                if let Some(key) = self.nodes.dfa.next(key, byte) {
                    let tag = self.nodes.dfa.tag(key);
                    to.push(at(tag.map_or(Place::KeyText(key), Place::Colon)));
                }
            }
            Place::Colon(tag) if byte == b':' => {
                let (object, id, _) = self.inner(thread);
                let behind = object.behind(tag as usize) as u32;
                let outer = stack.as_ref().and_then(|link| link.outer.clone());
                let place = Place::Value(object.value(tag as usize), true);
                to.push(Thread { place, stack: Link::push(&outer, Frame::Object(id, behind)) });
            }
            Place::FirstItem => {
                let Some(Frame::Array(id, _)) = stack.as_ref().map(|link| link.frame) else {
                    unreachable!("an item stands in an array")
                };
                let (items, least, most) = self.array(id);
                if byte == b']' {
                    to.extend((least == 0).then(|| close(stack)));
                } else if most != Some(0) {
                    self.begin(items, byte, &self.counted(stack), to);
                }
            }
            Place::End => match (stack.as_ref().map(|link| link.frame), byte) {
                (Some(Frame::Object(id, from)), b',') => {
                    let more = self.object(id).keys[from as usize].is_some();
                    to.extend(more.then(|| at(Place::Key(true))));
                }
                (Some(Frame::Object(id, from)), b'}') => {
                    let missing = self.object(id).required(from as usize).is_some();
                    to.extend((!missing).then(|| close(stack)));
                }
                (Some(Frame::Array(id, count)), b',') => {
                    let (items, _, most) = self.array(id);
                    if most.is_none_or(|most| count < most) {
                        let place = Place::Value(items, true);
                        to.push(Thread { place, stack: self.counted(stack) });
                    }
                }
                (Some(Frame::Array(id, count)), b']') => {
                    to.extend((count >= self.array(id).1).then(|| close(stack)));
                }
                _ => {}
            },
            Place::Colon(_) => {}
        }
    }

    /// Returns `stack` with one more value in the innermost array. The count stops once a larger
    /// one would change nothing.
    fn counted(&self, stack: &Stack) -> Stack {
        let link = stack.as_ref().expect("an array is open");
        let Frame::Array(id, count) = link.frame else { unreachable!("it is an array") };
        let (_, least, most) = self.array(id);
        let count = (count + 1).min(most.unwrap_or(least));
        if Frame::Array(id, count) == link.frame {
            return stack.clone();
        }
        Link::push(&link.outer, Frame::Array(id, count))
    }

    /// Returns the place in a string of kind `node` after one more byte of a character. `place` is
    /// the state after that byte, and `count` the number of characters before that character.
    fn behind_byte(&self, node: NodeId, place: u32, count: u32) -> Place {
        if self.nodes.dfa.tag(place).is_none() {
            return Place::Text(node, place, count);
        }
        let (least, most) = self.text(node);
        Place::Text(node, self.character, (count + 1).min(most.unwrap_or(least)))
    }

    fn scalar(&self, place: u32, stack: &Stack) -> Thread {
        let over = self.nodes.dfa.tag(place).is_some() && self.nodes.dfa.edges(place).is_empty();
        let place = if over { Place::End } else { Place::Scalar(place) };
        Thread { place, stack: stack.clone() }
    }

    /// Appends to `to` the parses of a value of kind `id` after `byte`, its first byte.
    fn begin(&self, id: NodeId, byte: u8, stack: &Stack, to: &mut Vec<Thread>) {
        match (self.nodes.node(id), byte) {
            (Node::Union(all), _) => all.iter().for_each(|&id| self.begin(id, byte, stack, to)),
            (Node::Scalar(start), _) => {
                let next = self.nodes.dfa.next(*start, byte);
                to.extend(next.map(|place| self.scalar(place, stack)));
            }
            (Node::Text { .. }, b'"') => {
                let place = Place::Text(id, self.character, 0);
                to.push(Thread { place, stack: stack.clone() });
            }
            (Node::Object(object), b'{') if !object.keys.is_empty() => {
                let stack = Link::push(stack, Frame::Object(id, 0));
                to.push(Thread { place: Place::FirstKey, stack });
            }
            (Node::Array { .. }, b'[') => {
                let stack = Link::push(stack, Frame::Array(id, 0));
                to.push(Thread { place: Place::FirstItem, stack });
            }
            _ => {}
        }
    }

    /// Returns the shortest text that completes one parse.
    fn closing(&self, thread: &Thread) -> Vec<u8> {
        let mut text = Vec::new();
        let mut frames = &thread.stack;
        // Whether `text` already closes the innermost object or array.
        let mut inner = true;
        match thread.place {
            Place::Value(node, _) => {
                text.extend_from_slice(self.nodes.shortest(node));
                inner = false;
            }
            Place::Scalar(place) => {
                self.nodes.dfa.close(place, &mut text);
                inner = false;
            }
            Place::Text(node, place, count) => {
                let mut count = count;
                if place != self.character {
                    self.nodes.dfa.close(place, &mut text);
                    count += 1;
                }
                let missing = self.text(node).0.saturating_sub(count) as usize;
                text.resize(text.len() + missing, b' ');
                text.push(b'"');
                inner = false;
            }
            Place::FirstKey => {
                let (object, _, at) = self.inner(thread);
                self.nodes.close_object(object, at, false, &mut text);
            }
            Place::Key(_) | Place::KeyText(_) => {
                let (object, _, at) = self.inner(thread);
                let key = match thread.place {
                    Place::KeyText(key) => key,
                    _ => object.keys[at].expect("a comma has a key behind it"),
                };
                let end = self.nodes.dfa.close(key, &mut text);
                let tag = self.nodes.dfa.tag(end).expect("a key's end") as usize;
                self.close_property(object, tag, &mut text);
            }
            Place::Colon(tag) => {
                self.close_property(self.inner(thread).0, tag as usize, &mut text);
            }
            Place::FirstItem => self.close_frame(frames, false, &mut text),
            Place::End => inner = false,
        }
        if inner {
            frames = frames.as_ref().map_or(frames, |link| &link.outer);
        }
        while let Some(link) = frames {
            self.close_frame(frames, true, &mut text);
            frames = &link.outer;
        }
        text
    }

    /// Appends the shortest text that closes `object` after the key with this tag.
    fn close_property(&self, object: &Object, tag: usize, text: &mut Vec<u8>) {
        text.push(b':');
        text.extend_from_slice(self.nodes.shortest(object.value(tag)));
        self.nodes.close_object(object, object.behind(tag), true, text);
    }

    /// Appends the shortest text that closes the innermost object or array of `stack`. `comma` says
    /// whether a comma must come before the first value that is still missing.
    fn close_frame(&self, stack: &Stack, mut comma: bool, text: &mut Vec<u8>) {
        match stack.as_ref().map(|link| link.frame) {
            Some(Frame::Object(id, at)) => {
                self.nodes.close_object(self.object(id), at as usize, comma, text);
            }
            Some(Frame::Array(id, count)) => {
                let (items, least, _) = self.array(id);
                for _ in count..least {
                    if std::mem::replace(&mut comma, true) {
                        text.push(b',');
                    }
                    text.extend_from_slice(self.nodes.shortest(items));
                }
                text.push(b']');
            }
            None => {}
        }
    }
}

/// Returns the parse after a bracket that closes the innermost object or array of `stack`.
fn close(stack: &Stack) -> Thread {
    let outer = stack.as_ref().and_then(|link| link.outer.clone());
    Thread { place: Place::End, stack: outer }
}
