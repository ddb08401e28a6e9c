//! Week 1, day 2, task 3.

use tiny_llm::week1::rope::rope_half_split;

use super::{
    Form, check_an_offset_is_a_shift, check_any_layout, check_any_shape, check_every_pair_turns,
    check_form, check_pairs_keep_their_length, check_position_0_is_the_identity,
    check_scores_depend_on_the_distance, check_short_tables_are_refused,
};

const HALF_SPLIT: Form = Form { name: "rope_half_split", rope: rope_half_split };

#[test]
fn task_3_half_split_turns_every_pair_of_any_head() {
    check_every_pair_turns(HALF_SPLIT, |i, half| (i, i + half));
}

#[test]
fn task_3_half_split_of_any_shape() {
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
fn task_3_half_split_over_two_axes() {
    check_form(HALF_SPLIT, "task_3_half_split/two_axes");
}

#[test]
fn task_3_half_split_leaves_position_0_alone() {
    check_position_0_is_the_identity(HALF_SPLIT);
}

#[test]
fn task_3_half_split_keeps_the_length_of_each_pair() {
    check_pairs_keep_their_length(HALF_SPLIT, |i| (i, i + 4));
}

#[test]
fn task_3_half_split_scores_depend_on_the_distance() {
    check_scores_depend_on_the_distance(HALF_SPLIT);
}

#[test]
fn task_3_half_split_offset_is_a_shift() {
    check_an_offset_is_a_shift(HALF_SPLIT);
}

#[test]
fn task_3_half_split_in_any_layout() {
    check_any_layout(HALF_SPLIT);
}

#[test]
fn task_3_half_split_refuses_tables_that_are_too_short() {
    check_short_tables_are_refused(HALF_SPLIT);
}
