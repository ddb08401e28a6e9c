//! Week 1, day 2.
