//! id: length-overflow
//! function: data_start
//! says: The position plus the alignment overflows: use `checked_next_multiple_of`, or `checked_add`.
//! shows: an alignment of 2^63: this panicked: attempt to add with overflow
Some((position + alignment - 1) / alignment * alignment)
