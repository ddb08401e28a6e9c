//! id: alignment-minimum
//! function: data_start
//! says: You round up to 32 at least: the alignment may be less.
position.checked_next_multiple_of(alignment.max(32))
