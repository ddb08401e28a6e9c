//! Week 1, day 7.
