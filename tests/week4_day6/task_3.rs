//! Week 4, day 6, task 3: attention sinks.

use tiny_llm::{
    week2::cache::{Cells, Run},
    week4::mixture::sinks::{attend_with_sinks, begin, softmax_with_sink},
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::check::{assert_agrees, resting_on};

use super::{SINKS, each, flat, numbers};

#[test]
pub(crate) fn task_3_softmax_with_sink_matches_pytorch() {
    each("task_3_softmax/", |case| {
        let mut scores = case.numbers("scores");
        let sink = case.scalar("sink") as f32;
        softmax_with_sink(&mut scores, sink);
        case.check("weights", &flat(&scores));
    });
}

#[test]
fn task_3_softmax_with_sink_of_fully_masked_scores_is_zero() {
    let mut scores = [f32::NEG_INFINITY; 3];
    softmax_with_sink(&mut scores, -2.0);
    if scores == [0.0; 3] {
        return;
    }
    // If the maximum is a score, the result is right unless the sum leaves out the sink.
    let mut one = [0.0];
    softmax_with_sink(&mut one, 0.0);
    let diagnosis = if scores.iter().all(|x| x.is_nan()) && one == [0.5] {
        "\n  diagnosis The maximum must include the sink."
    } else {
        ""
    };
    panic!("softmax_with_sink of three scores of −∞: found {scores:?}, expected zeros{diagnosis}");
}

/// The online softmax returns the same weights, with one score at a time.
#[test]
fn task_3_begin_counts_the_sink_in_online_softmax() {
    resting_on(&[SINKS], || {
        for (sink, scores) in [
            (0.5, vec![1.0, -2.0, 3.0, 0.25, 2.0]),
            (4.0, vec![1.0, 2.0, -1.0]),
            (-30.0, vec![0.0, 1.0]),
            (95.0, vec![93.0, 94.0, 96.0, 90.0]),
            (-1000.5, vec![-1001.0, -999.5, -1003.0]),
        ] {
            let mut expected = scores.clone();
            softmax_with_sink(&mut expected, sink);
            let mut softmax = begin(sink);
            let mut found = Vec::new();
            for score in scores {
                let mut one = [score];
                let factor = softmax.absorb(&mut one);
                found.iter_mut().for_each(|weight| *weight *= factor);
                found.push(one[0]);
            }
            found.iter_mut().for_each(|weight| *weight /= softmax.total);
            // Each factor and each sum may be rounded once.
            let what =
                format!("weights of scores that are absorbed one by one, with the sink {sink}");
            let property = "they must equal the softmax over all scores at once";
            let is_one = |weights: &[f32]| (weights.iter().sum::<f32>() - 1.0).abs() < 1e-5;
            assert!(
                !is_one(&found) || is_one(&expected),
                "{what}: found {found:?}, expected {expected:?}\n  diagnosis Your sum starts at \
                0, so the weights sum to 1 and the sink has no share. Start it with the \
                sink's own `e^(sink − max)`."
            );
            assert_agrees(&what, &flat(&found), &flat(&expected), 2e-6, property);
        }
    });
}

#[test]
fn task_3_attend_with_sinks_matches_transformers() {
    each("task_3_attend/", |case| {
        let [q, k, v] = ["q", "k", "v"].map(|name| case.tensor(name));
        let sinks = case.numbers("sinks");
        let (heads, rows, d) = (q.shape()[0], q.shape()[1], q.shape()[2]);
        let (kv_heads, length) = (k.shape()[0], k.shape()[1]);
        let group = heads / kv_heads;
        let [q, k, v] = [q, k, v].map(|x| numbers(&x));
        for page in [length, 32] {
            let mut out = vec![7.0; rows * heads * d];
            for row in 0..rows {
                for head in 0..kv_heads {
                    let mine = head * group..(head + 1) * group;
                    let mine_q: Vec<f32> = mine
                        .clone()
                        .flat_map(|h| q[(h * rows + row) * d..][..d].to_vec())
                        .collect();
                    let runs = (0..length).step_by(page).map(|start| {
                        let n = page.min(length - start);
                        let at = (head * length + start) * d;
                        let cells = |x| Cells::F32(x);
                        Run {
                            start,
                            len: n,
                            keys: cells(&k[at..at + n * d]),
                            values: cells(&v[at..at + n * d]),
                        }
                    });
                    let out = &mut out[(row * heads + mine.start) * d..][..group * d];
                    let scale = 1.0 / (d as f32).sqrt();
                    attend_with_sinks(&mine_q, runs, d, scale, &sinks[mine], out);
                }
            }
            case.check("output", &tensor(&[rows, heads, d], out));
        }
    });
}
