//! Week 1, day 4.
