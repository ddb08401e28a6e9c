//! A value byte by byte: where its text stands, and what may follow.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::{
    nfa::Nfa,
    node::{Node, NodeId, Nodes, Object},
};

/// Beyond so many objects and arrays in each other, only the shortest way to the end is left.
pub const MOST_DEPTH: usize = 64;
/// A text that may go on in more ways at once keeps those that end soonest.
const MOST_THREADS: usize = 256;

/// Where one way to read the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// Before a value of this kind; one blank may come first, or not.
    Value(NodeId, bool),
    /// In what one automaton follows, at this place of it.
    Scalar(u32),
    /// In a string of this kind, behind so many characters, at this place of the next one.
    Text(NodeId, u32, u32),
    /// Behind `{`.
    FirstKey,
    /// Behind the comma of an object; one blank may come first, or not.
    Key(bool),
    /// In a key.
    KeyText(u32),
    /// Behind the key of the property with this tag.
    Colon(u32),
    /// Behind `[`.
    FirstItem,
    /// Behind a value.
    End,
}

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Frame {
    /// An object, in which the properties before this one have had their turn.
    Object(NodeId, u32),
    /// An array with so many values.
    Array(NodeId, u32),
}

/// All that is open, the innermost first.
type Stack = Option<Arc<Link>>;

#[derive(Debug)]
struct Link {
    frame: Frame,
    outer: Stack,
    depth: usize,
    hash: u64,
}

impl Link {
    fn push(outer: &Stack, frame: Frame) -> Stack {
        let (kind, id, count) = match frame {
            Frame::Object(id, at) => (0, id, at),
            Frame::Array(id, count) => (1, id, count),
        };
        let below = outer.as_ref().map_or(0, |link| link.hash);
        let own = u64::from(id) << 33 | u64::from(count) << 1 | kind;
        let hash = (below.rotate_left(5) ^ own).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let depth = 1 + outer.as_ref().map_or(0, |link| link.depth);
        Some(Arc::new(Self { frame, outer: outer.clone(), depth, hash }))
    }
}

impl PartialEq for Link {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.frame == other.frame
            && match (&self.outer, &other.outer) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
                (a, b) => a.is_none() && b.is_none(),
            }
    }
}

impl Eq for Link {}

impl Hash for Link {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// One way to read the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Thread {
    place: Place,
    stack: Stack,
}

/// All that matters of the bytes so far: the ways to read them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Position(Threads);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Threads {
    /// As nearly always.
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

/// What follows the texts of a kind of value.
#[derive(Debug)]
pub(crate) struct Automaton {
    nodes: Nodes,
    root: NodeId,
    /// Where a character of any string begins.
    character: u32,
}

impl Automaton {
    /// Of the kind `root`. There is room for one more automaton in `nodes`.
    pub(crate) fn new(mut nodes: Nodes, root: NodeId) -> Option<Self> {
        let mut nfa = Nfa::new();
        let end = nfa.any_spelling(0);
        nfa.spots[end as usize].tag = Some(0);
        let raw = crate::dfa::Raw::of(&nfa).ok()?;
        let character = nodes.dfa.add(&raw, |_| 0).ok()??;
        Some(Self { nodes, root, character })
    }

    /// Places of all automata in it.
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

    /// Without those that are the same.
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

    /// A shortest text that makes a whole of it, the smallest bytes first.
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

    /// The innermost object and how far it is.
    fn inner(&self, thread: &Thread) -> (&Object, NodeId, usize) {
        match thread.stack.as_ref().map(|link| link.frame) {
            Some(Frame::Object(id, at)) => (self.object(id), id, at as usize),
            _ => unreachable!("a key stands in an object"),
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
                // A number ends where something else begins.
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

    /// The stack with one more value in the innermost array. What the count no longer decides isn't
    /// counted.
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

    /// Where a string stands behind a byte that belongs to a character.
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

    /// The first byte of a value.
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

    /// A shortest text that makes a whole of one way to read it.
    fn closing(&self, thread: &Thread) -> Vec<u8> {
        let mut text = Vec::new();
        let mut frames = &thread.stack;
        // Whether what is missing ends the innermost of what is open, too.
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

    /// Behind a property's key.
    fn close_property(&self, object: &Object, tag: usize, text: &mut Vec<u8>) {
        text.push(b':');
        text.extend_from_slice(self.nodes.shortest(object.value(tag)));
        self.nodes.close_object(object, object.behind(tag), true, text);
    }

    /// What ends the innermost of what is open.
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

/// Behind the bracket that closes the innermost of what is open.
fn close(stack: &Stack) -> Thread {
    let outer = stack.as_ref().and_then(|link| link.outer.clone());
    Thread { place: Place::End, stack: outer }
}
