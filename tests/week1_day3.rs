//! Week 1, day 3.
