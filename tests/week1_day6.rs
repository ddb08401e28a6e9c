//! Week 1, day 6.
