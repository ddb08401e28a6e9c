//! The open objects and arrays of a text.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::node::NodeId;

/// An open object or array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Frame {
    /// An object, and the index of the first property that may still follow.
    Object(NodeId, u32),
    /// An array, and the number of its values so far. The count stops once a larger one would
    /// change nothing.
    Array(NodeId, u32),
}

/// All open objects and arrays: a linked list, the innermost first. `None` if none is open.
pub(crate) type Stack = Option<Arc<Link>>;

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) frame: Frame,
    pub(crate) outer: Stack,
    pub(crate) depth: usize,
    hash: u64,
}

impl Link {
    pub(crate) fn push(outer: &Stack, frame: Frame) -> Stack {
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
