//! Week 1, day 2, task 3.

use tiny_llm::week1::rope::rope_half_split;

use super::{
    Form, check_an_offset_is_a_shift, check_any_layout, check_any_shape, check_every_pair_turns,
    check_form, check_pairs_keep_their_length, check_position_0_is_the_identity,
    check_scores_depend_on_the_distance,
};

const HALF_SPLIT: Form = Form { name: "rope_half_split", rope: rope_half_split };

#[test]
fn task_3_half_split_rotates_every_pair_at_various_head_sizes() {
    check_every_pair_turns(HALF_SPLIT, |i, half| (i, i + half));
}

#[test]
fn task_3_half_split_with_any_leading_axes_or_no_rows() {
    check_any_shape(HALF_SPLIT);
}

#[test]
fn task_3_half_split_at_positions_3_to_7() {
    check_form(HALF_SPLIT, "task_3_half_split/near");
}

#[test]
fn task_3_half_split_beyond_position_256() {
    check_form(HALF_SPLIT, "task_3_half_split/offset");
}

#[test]
fn task_3_half_split_with_an_odd_number_of_pairs() {
    check_form(HALF_SPLIT, "task_3_half_split/odd_pairs");
}

#[test]
fn task_3_half_split_of_2d_input() {
    check_form(HALF_SPLIT, "task_3_half_split/two_axes");
}

#[test]
fn task_3_half_split_leaves_position_0_unchanged() {
    check_position_0_is_the_identity(HALF_SPLIT);
}

#[test]
fn task_3_half_split_preserves_the_norm_of_each_pair() {
    check_pairs_keep_their_length(HALF_SPLIT, |i| (i, i + 4));
}

#[test]
fn task_3_half_split_scores_depend_on_relative_position() {
    check_scores_depend_on_the_distance(HALF_SPLIT);
}

#[test]
fn task_3_half_split_offset_shifts_positions() {
    check_an_offset_is_a_shift(HALF_SPLIT);
}

#[test]
fn task_3_half_split_in_any_layout() {
    check_any_layout(HALF_SPLIT);
}
