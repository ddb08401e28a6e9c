//! Week 1, day 2, task 2.

use tiny_llm::week1::rope::rope_interleaved;

use super::{
    Form, check_an_offset_is_a_shift, check_any_layout, check_any_shape, check_every_pair_turns,
    check_form, check_pairs_keep_their_length, check_position_0_is_the_identity,
    check_scores_depend_on_the_distance,
};

const INTERLEAVED: Form = Form { name: "rope_interleaved", rope: rope_interleaved };

#[test]
fn task_2_interleaved_rotates_every_pair_at_various_head_sizes() {
    check_every_pair_turns(INTERLEAVED, |i, _| (2 * i, 2 * i + 1));
}

#[test]
fn task_2_interleaved_at_positions_3_to_7() {
    check_form(INTERLEAVED, "task_2_interleaved/near");
}

#[test]
fn task_2_interleaved_beyond_position_256() {
    check_form(INTERLEAVED, "task_2_interleaved/offset");
}

#[test]
fn task_2_interleaved_with_an_odd_number_of_pairs() {
    check_form(INTERLEAVED, "task_2_interleaved/odd_pairs");
}

#[test]
fn task_2_interleaved_of_2d_input() {
    check_form(INTERLEAVED, "task_2_interleaved/two_axes");
}

#[test]
fn task_2_interleaved_leaves_position_0_unchanged() {
    check_position_0_is_the_identity(INTERLEAVED);
}

#[test]
fn task_2_interleaved_preserves_the_norm_of_each_pair() {
    check_pairs_keep_their_length(INTERLEAVED, |i| (2 * i, 2 * i + 1));
}

#[test]
fn task_2_interleaved_scores_depend_on_relative_position() {
    check_scores_depend_on_the_distance(INTERLEAVED);
}

#[test]
fn task_2_interleaved_offset_shifts_positions() {
    check_an_offset_is_a_shift(INTERLEAVED);
}

#[test]
fn task_2_interleaved_with_any_leading_axes_or_no_rows() {
    check_any_shape(INTERLEAVED);
}

#[test]
fn task_2_interleaved_in_any_layout() {
    check_any_layout(INTERLEAVED);
}
