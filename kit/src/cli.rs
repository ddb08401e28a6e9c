//! Filled in soon.
