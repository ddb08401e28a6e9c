//! Week 1, day 5.
