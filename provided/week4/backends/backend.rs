//! Day 4. What a backend is: something that has memory of its own and can compute nodes
//! in it.

use std::{error::Error, fmt};

use tiny_llm_formats::bytes::Bytes;

use crate::week4::{
    graph::{Graph, NodeId},
    step::AnyStep,
};

/// A processor with its memory. Seven verbs are all that a graph asks of one.
///
/// What is asked for happens in the order in which it was asked for, but maybe later:
/// [`Backend::compute`] may return while the work is still to be done. [`Backend::download`] and
/// [`Backend::synchronise`] wait for it. A fault of such work may show as late as that.
pub trait Backend: Send {
    /// As it is called in errors and pictures: `cpu`.
    fn name(&self) -> &str;

    /// Whether it can compute this node: operation, types and layouts of what it reads.
    ///
    /// For a `store` and an `attend`, the answer does not depend on how many rows there are: the
    /// keys and values of all passes are in one place. A backend that stores has a cache of its
    /// own, of the size that the step's cache says; the step's cache then stays empty.
    fn supports(&self, graph: &Graph, id: NodeId) -> bool;

    /// Whether a node may be planned at the very place of its first source, where
    /// [`can_overwrite`](crate::week4::planner::can_overwrite) allows it.
    fn works_in_place(&self) -> bool {
        false
    }

    /// A place in a buffer begins at a multiple of this, in bytes.
    fn alignment(&self) -> usize {
        crate::week4::lifetimes::ALIGNMENT
    }

    /// Returns a new buffer in its memory. The contents are unspecified.
    ///
    /// # Errors
    /// If there is no room, or the device is lost.
    fn allocate(&mut self, bytes: usize) -> Result<BufferId, Fault>;

    /// A buffer whose bytes are these, where they lie: nothing is copied, and nothing may be
    /// written there. `None` if the backend cannot read the memory of the program, or not at this
    /// address; then they have to be uploaded.
    fn host_pointer(&mut self, _bytes: &Bytes) -> Option<BufferId> {
        None
    }

    /// Gives a buffer back. Its number may be used again.
    ///
    /// # Errors
    /// If it has none of this number.
    fn release(&mut self, buffer: BufferId) -> Result<(), Fault>;

    /// Writes bytes to a place that has as many. They may be changed when this returns.
    ///
    /// # Errors
    /// If there is no such place, or it cannot be written; if the device is lost.
    fn upload(&mut self, to: Place, bytes: &[u8]) -> Result<(), Fault>;

    /// Computes the nodes of a [`Work`], in their order.
    ///
    /// # Errors
    /// If a node cannot be computed, or reads or writes beyond a buffer; if the device is lost.
    fn compute(&mut self, work: &Work<'_>, step: &mut AnyStep<'_>) -> Result<(), Failed>;

    /// Waits until all is done, and reads the bytes of a place that has as many.
    ///
    /// # Errors
    /// If there is no such place, or something has gone wrong meanwhile.
    fn download(&mut self, from: Place, bytes: &mut [u8]) -> Result<(), Fault>;

    /// The bytes of a place where they lie, if all is done that writes them and the program can
    /// read them there: nothing is copied. `None` if they have to be downloaded.
    fn lent(&self, _from: Place) -> Option<&[u8]> {
        None
    }

    /// Waits until all is done.
    ///
    /// # Errors
    /// If something has gone wrong meanwhile.
    fn synchronise(&mut self) -> Result<(), Fault>;
}

/// A buffer: a number that means something to the backend that gave it, and to no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub usize);

/// Some bytes of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which.
    pub buffer: BufferId,
    /// The first byte.
    pub offset: usize,
    /// How many there are.
    pub bytes: usize,
}

/// Nodes to be computed one after the other by one backend.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// What they are nodes of.
    pub graph: &'a Graph,
    /// Neither leaves nor views nor copies.
    pub nodes: &'a [NodeId],
    /// `[nodes of the graph]`, where the bytes of a node are in this backend's memory, for each
    /// that these nodes write or read: also for weights and numbers. A view has none; its bytes are
    /// its root's ([`Graph::root`]), and its layout says where among them. Tokens have none: they
    /// are the step's.
    pub places: &'a [Option<Place>],
}

impl Work<'_> {
    /// Where the bytes of a node are, or those of the node that it is a view of.
    ///
    /// # Errors
    /// If it has no place.
    pub fn place(&self, id: NodeId) -> Result<Place, Fault> {
        let root = self.graph.root(id);
        self.places[root.index()].ok_or_else(|| Fault::NoPlace(self.graph.told(root)))
    }
}

/// What can go wrong on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// No room.
    OutOfMemory {
        /// Bytes that were asked for.
        wanted: usize,
        /// How many there are at most, if that is known.
        limit: Option<usize>,
    },
    /// The device is gone, or has been reset: nothing that was in its memory is there any more.
    Lost(String),
    /// Something that the device does not take, and why.
    Refused(String),
    /// Bytes beyond the end of a buffer.
    OutOfBounds {
        /// Which.
        place: Place,
        /// How long its buffer is.
        len: usize,
    },
    /// Another number of bytes than the place has.
    WrongLength {
        /// Which.
        place: Place,
        /// How many were given.
        found: usize,
    },
    /// There is no such buffer, or not any more.
    NoBuffer(BufferId),
    /// A node that is read or written has no place.
    NoPlace(String),
    /// A buffer of host memory is to be written.
    ReadOnly(BufferId),
    /// Something that this backend cannot do.
    Unsupported(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |Place { buffer, offset, bytes }: &Place| {
            format!("{bytes} bytes from {offset} on in buffer {}", buffer.0)
        };
        match self {
            Self::OutOfMemory { wanted, limit: None } => {
                write!(f, "out of memory: found no room for {wanted} bytes")
            }
            Self::OutOfMemory { wanted, limit: Some(limit) } => {
                write!(f, "out of memory: found no room for {wanted} bytes, at most {limit} fit")
            }
            Self::Lost(why) => write!(f, "the device is lost: {why}"),
            Self::Refused(why) => write!(f, "the device refuses: {why}"),
            Self::OutOfBounds { place, len } => {
                write!(f, "found {}, expected a place within its {len} bytes", named(place))
            }
            Self::WrongLength { place, found } => {
                write!(f, "found {found} bytes, expected {}", named(place))
            }
            Self::NoBuffer(buffer) => write!(f, "there is no buffer {}", buffer.0),
            Self::NoPlace(node) => write!(f, "{node} has no place in this backend's memory"),
            Self::ReadOnly(buffer) => {
                write!(f, "buffer {} is memory of the program, which is only read", buffer.0)
            }
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}

impl Error for Fault {}

/// What went wrong, and where, if that is known: a queue may only notice at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Which node was to be computed.
    pub node: Option<NodeId>,
    /// What is wrong.
    pub fault: Fault,
}

impl Failed {
    /// What cannot be done for this node.
    #[must_use]
    pub fn at(node: NodeId, fault: Fault) -> Self {
        Self { node: Some(node), fault }
    }

    /// One line: the backend, the node with its name and sizes, the operation, what it reads, what
    /// is wrong.
    #[must_use]
    pub fn told(&self, backend: &str, graph: &Graph) -> String {
        let Some(id) = self.node else { return format!("{backend}: {}", self.fault) };
        format!("{backend}: {}: {}", graph.told_with_sources(id), self.fault)
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self { node: None, fault }
    }
}

impl Graph {
    /// A node in an error: `mul_mat of node 3 (…) and node 4 (…) into node 5 (…)`.
    #[must_use]
    pub fn told_with_sources(&self, id: NodeId) -> String {
        let node = self.node(id);
        let sources: Vec<String> = node.sources.iter().map(|&id| self.told(id)).collect();
        let of = if sources.is_empty() { String::new() } else { " of ".to_owned() };
        format!("{}{of}{} into {}", node.op.name(), sources.join(" and "), self.told(id))
    }
}
