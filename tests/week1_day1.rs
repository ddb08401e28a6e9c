//! Week 1, day 1.
