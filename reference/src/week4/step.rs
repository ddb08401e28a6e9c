//! Day 2, provided. What a pass has beside its graph.

use crate::week2::{
    plan::Plan,
    rope::{RopeLayout, RopeTable},
    rows::Row,
};

/// What a pass over a graph has beside the graph.
pub struct Step<'a, C> {
    /// What is asked for.
    pub rows: &'a [Row],
    /// Where keys and values are.
    pub cache: &'a mut C,
    /// How it is computed.
    pub plan: &'a Plan,
    /// By what heads are turned.
    pub rope: (&'a RopeTable, RopeLayout),
}
