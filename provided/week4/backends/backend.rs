//! Day 4. The interface of a backend: a processor with its own memory that can compute a graph's
//! nodes.

use std::{error::Error, fmt};

use tiny_llm_formats::bytes::Bytes;

use crate::week4::{
    graph::{Graph, NodeId},
    step::AnyStep,
};

/// A processor with its own memory, and the operations needed to run a graph on it.
///
/// Operations take effect in the order of the calls. [`Backend::compute`] may return before its
/// work is done. [`Backend::download`] and [`Backend::synchronise`] wait for the work to finish. A
/// later call may therefore report the error of an earlier one.
pub trait Backend: Send {
    /// Returns the backend's name in errors and pictures, such as `cpu`.
    fn name(&self) -> &str;

    /// Returns whether the backend can compute the node `id`. The answer may depend on the node's
    /// operation, and on the types and layouts of its sources.
    ///
    /// For `store` and `attend` nodes, the answer must not depend on the number of rows. Otherwise
    /// two passes could run on different backends, with their keys and values in different
    /// memories. A backend that supports `store` may have its own cache, as large as the step's
    /// cache. It then writes only to its own cache.
    fn supports(&self, graph: &Graph, id: NodeId) -> bool;

    /// Returns whether the backend can write a node's result over the node's first source.
    /// [`can_overwrite`](crate::week4::planner::can_overwrite) lists the operations that may do so.
    fn works_in_place(&self) -> bool {
        false
    }

    /// Returns the alignment that every place in a buffer must have, in bytes.
    fn alignment(&self) -> usize {
        crate::week4::lifetimes::ALIGNMENT
    }

    /// Allocates a buffer in the backend's memory. The contents are unspecified.
    ///
    /// # Errors
    /// If there is no room, or the device is lost.
    fn allocate(&mut self, bytes: usize) -> Result<BufferId, Fault>;

    /// Returns a read-only buffer that uses these bytes in place, without a copy. Returns `None` if
    /// the backend can't read the program's memory at this address. The caller must then upload the
    /// bytes.
    fn host_pointer(&mut self, _bytes: &Bytes) -> Option<BufferId> {
        None
    }

    /// Releases a buffer. A later buffer may have the same number.
    ///
    /// # Errors
    /// If no buffer has this number.
    fn release(&mut self, buffer: BufferId) -> Result<(), Fault>;

    /// Writes `bytes` to the place `to`, which has the same length. The caller may change `bytes`
    /// as soon as this method returns.
    ///
    /// # Errors
    /// If the place doesn't exist, has another length, or is read-only, checked in this order. Also
    /// if the device is lost.
    fn upload(&mut self, to: Place, bytes: &[u8]) -> Result<(), Fault>;

    /// Computes the nodes of a [`Work`], in order.
    ///
    /// # Errors
    /// If a node can't be computed, or reads or writes beyond a buffer. Also if the device is lost.
    fn compute(&mut self, work: &Work<'_>, step: &mut AnyStep<'_>) -> Result<(), Failed>;

    /// Waits until all work is done. Then copies the bytes of the place `from` to `bytes`, which
    /// has the same length.
    ///
    /// # Errors
    /// If there is no such place, its length differs from that of `bytes`, or earlier work has
    /// failed.
    fn download(&mut self, from: Place, bytes: &mut [u8]) -> Result<(), Fault>;

    /// Returns the bytes of a place without a copy. Returns `None` if they haven't been written
    /// yet, or if the program can't read that memory. The caller must then call
    /// [`Backend::download`].
    fn lent(&self, _from: Place) -> Option<&[u8]> {
        None
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// If earlier work has failed.
    fn synchronise(&mut self) -> Result<(), Fault>;
}

/// A buffer's number, which is valid only for the backend that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub usize);

/// A range of bytes in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The buffer.
    pub buffer: BufferId,
    /// Offset of the first byte.
    pub offset: usize,
    /// Number of bytes.
    pub bytes: usize,
}

/// Nodes that one backend computes, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// The graph that the nodes belong to.
    pub graph: &'a Graph,
    /// The nodes, without leaves, views and copies.
    pub nodes: &'a [NodeId],
    /// `[nodes of the graph]`, the place in this backend's memory of each node that this work
    /// writes or reads. Weights and values have places too. A view has no place: its bytes are in
    /// its root's place ([`Graph::root`]), at the offset of its layout. Tokens have no place,
    /// because they are in the step.
    pub places: &'a [Option<Place>],
}

impl Work<'_> {
    /// Returns the place of a node, or of its root if it is a view.
    ///
    /// # Errors
    /// If the node has no place.
    pub fn place(&self, id: NodeId) -> Result<Place, Fault> {
        let root = self.graph.root(id);
        self.places[root.index()].ok_or_else(|| Fault::NoPlace(self.graph.told(root)))
    }
}

/// An error on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The device's memory is full.
    OutOfMemory {
        /// Number of bytes that were requested.
        wanted: usize,
        /// The largest request that could ever succeed, in bytes, if known.
        limit: Option<usize>,
    },
    /// The device is gone or has been reset. The contents of its memory are lost.
    Lost(String),
    /// The device rejected a command. The text says why.
    Refused(String),
    /// A place extends past the end of its buffer.
    OutOfBounds {
        /// The requested place.
        place: Place,
        /// Length of the buffer in bytes.
        len: usize,
    },
    /// The number of bytes to upload or download differs from the length of the place.
    WrongLength {
        /// The requested place.
        place: Place,
        /// Number of bytes to upload or download.
        found: usize,
    },
    /// There is no such buffer, or it has been released.
    NoBuffer(BufferId),
    /// A node that is read or written has no place in the backend's memory.
    NoPlace(String),
    /// The buffer to be written is host memory, which is read-only.
    ReadOnly(BufferId),
    /// The backend doesn't support this operation.
    Unsupported(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |Place { buffer, offset, bytes }: &Place| {
            format!("{bytes} bytes at offset {offset} of buffer {}", buffer.0)
        };
        match self {
            Self::OutOfMemory { wanted, limit: None } => {
                write!(f, "out of memory: no room for {wanted} bytes")
            }
            Self::OutOfMemory { wanted, limit: Some(limit) } => {
                write!(f, "out of memory: no room for {wanted} bytes, at most {limit} fit")
            }
            Self::Lost(why) => write!(f, "the device is lost: {why}"),
            Self::Refused(why) => write!(f, "the device reported an error: {why}"),
            Self::OutOfBounds { place, len } => {
                write!(
                    f,
                    "found {}, expected a range within that buffer's {len} bytes",
                    named(place)
                )
            }
            Self::WrongLength { place, found } => {
                write!(f, "found {found} bytes, expected {}", named(place))
            }
            Self::NoBuffer(buffer) => write!(f, "there is no buffer {}", buffer.0),
            Self::NoPlace(node) => write!(f, "{node} has no place in this backend's memory"),
            Self::ReadOnly(buffer) => {
                write!(f, "buffer {} is the program's memory, which is read-only", buffer.0)
            }
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}

impl Error for Fault {}

/// An error, and the node at which it occurred, if that is known. A device with a queue may report
/// an error only after all queued work has run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The node that was being computed.
    pub node: Option<NodeId>,
    /// The error.
    pub fault: Fault,
}

impl Failed {
    /// Creates an error for this node.
    #[must_use]
    pub fn at(node: NodeId, fault: Fault) -> Self {
        Self { node: Some(node), fault }
    }

    /// Describes the error in one line: the backend, the node with its name and sizes, the
    /// operation, its sources, and the fault.
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
    /// Describes a node with its sources: `mul_mat of node 3 (…) and node 4 (…) into node 5 (…)`.
    #[must_use]
    pub fn told_with_sources(&self, id: NodeId) -> String {
        let node = self.node(id);
        let sources: Vec<String> = node.sources.iter().map(|&id| self.told(id)).collect();
        let of = if sources.is_empty() { String::new() } else { " of ".to_owned() };
        format!("{}{of}{} into {}", node.op.name(), sources.join(" and "), self.told(id))
    }
}
