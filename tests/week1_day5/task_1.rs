//! Week 1, day 5, task 1: embedding and tied output.

use ndarray::{Array2, Axis};
use tiny_llm::week1::model::Embedding;
use tiny_llm_formats::{
    Tensor,
    tensor::{reshape, tensor},
};
use tiny_llm_harness::{
    check::{self, assert_any_layout},
    fixtures::random,
};

use super::{fixtures, tokens};

#[test]
pub(super) fn task_1_embedding() {
    let case = fixtures().case("task_1_embedding/two_rows");
    let embedding = Embedding { weight: case.tensor("weight") };
    case.check("output", &embedding.forward(&tokens(&case)));
}

#[test]
pub(super) fn task_1_as_output() {
    let case = fixtures().case("task_1_as_output/signed");
    let embedding = Embedding { weight: case.tensor("weight") };
    case.check("output", &embedding.as_output(&case.tensor("x")));
}

#[test]
fn task_1_embedding_and_as_output_in_any_layout() {
    // The array is stored column by column, as if a batch was built that way.
    let tokens = ndarray::array![[3u32, 1, 4], [0, 2, 3]];
    let columns = tokens.t().as_standard_layout().into_owned().reversed_axes();
    let embedding = Embedding { weight: random(61, &[5, 4]) };
    let what = "embedding of tokens [2, 3] stored column by column in memory";
    let found = check::assert_accepts(what, || embedding.forward(&columns));
    let property = "row b of the batch is tokens.row(b), whatever the memory order";
    check::assert_agrees(what, &found, &embedding.forward(&tokens), 0.0, property);
    assert_any_layout("embedding with a table", &embedding.weight, 0.0, |weight| {
        Embedding { weight: weight.clone() }.forward(&tokens)
    });
    assert_any_layout("as_output", &random(62, &[2, 3, 4]), 1e-5, |x| embedding.as_output(x));
    assert_any_layout("as_output with a table", &embedding.weight, 1e-5, |weight| {
        Embedding { weight: weight.clone() }.as_output(&random(62, &[3, 4]))
    });
    let rows = embedding.as_output(&random(63, &[6, 4]));
    for lead in [&[6][..], &[2, 3], &[1, 2, 3], &[3, 1, 2, 1]] {
        let x = reshape(&random(63, &[6, 4]), &[lead, &[4]].concat());
        let what = format!("as_output of x {:?}", x.shape());
        let found = check::assert_accepts(&what, || embedding.as_output(&x));
        let expected = reshape(&rows, &[lead, &[5]].concat());
        let property = "x [..., E] gives logits [..., V], and each row is computed separately";
        check::assert_agrees(&what, &found, &expected, 1e-5, property);
    }
}

#[test]
fn task_1_embedding_with_no_tokens() {
    let embedding = Embedding { weight: random(61, &[5, 4]) };
    for (batch, length) in [(2, 0), (0, 3)] {
        let what = format!("embedding of tokens [{batch}, {length}]");
        let tokens = Array2::zeros((batch, length));
        let found = check::assert_accepts(&what, || embedding.forward(&tokens));
        assert_eq!(found.shape(), [batch, length, 4], "{what}: the result has the wrong shape");
    }
}

#[test]
fn task_1_embedding_and_as_output_with_large_vocabulary() {
    let (vocabulary, length) = (70_000, 130);
    let numbers = Tensor::from_shape_fn(vec![vocabulary, 1], |at| at[0] as f32);
    let embedding = Embedding { weight: numbers };
    let tokens = Array2::from_shape_fn((2, length), |(b, l)| (69_999 - 537 * l - b) as u32);
    let expected = tokens.mapv(|token| token as f32).insert_axis(Axis(2)).into_dyn();
    check::assert_close_because(
        "embedding of 2 × 130 tokens with a table whose row t contains t",
        &embedding.forward(&tokens),
        &expected,
        0.0,
        "token t must give row t, even with 70,000 rows: don't convert ids to a narrower type than \
         32 bits",
    );
    let logits = embedding.as_output(&tensor(&[1, 2, 1], vec![2.0, -3.0]));
    let expected =
        Tensor::from_shape_fn(vec![1, 2, vocabulary], |at| [2.0, -3.0][at[1]] * at[2] as f32);
    check::assert_close_because(
        "as_output of 2 and −3 with the same table of 70,000 rows",
        &logits,
        &expected,
        0.0,
        "every row of x must get a logit for every token",
    );
}
