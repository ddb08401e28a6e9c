//! Day 6. Chooses a token's experts and their weights.
//!
//! Tasks here: week4-day6 task 1 (`top_k`, `route`). Everything else is provided.

/// How a model turns its router's logits into weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routing {
    /// Qwen3-MoE: takes the softmax over all experts, and chooses those with the largest logits.
    SoftmaxFirst {
        /// Whether the chosen experts' weights are then divided by their sum (`norm_topk_prob`).
        renormalize: bool,
    },
    /// gpt-oss: chooses the best experts first, then takes the softmax over only their logits.
    TopKFirst,
}

/// Fills `chosen` with the experts that have the largest logits. The expert with the largest logit
/// comes first. Of equal logits, the expert with the lower number comes first. `logits [n]` has a
/// logit for each expert.
///
/// # Panics
/// If there are fewer experts than `chosen` has room for.
pub fn top_k(logits: &[f32], chosen: &mut [usize]) {
    // SOLUTION week4-day6 task 1
    assert!(
        chosen.len() <= logits.len(),
        "found {} experts to choose, expected at most {}",
        chosen.len(),
        logits.len()
    );
    for j in 0..chosen.len() {
        let (taken, rest) = chosen.split_at_mut(j);
        let left = (0..logits.len()).filter(|expert| !taken.contains(expert));
        let best = left.reduce(|a, b| if logits[b] > logits[a] { b } else { a });
        rest[0] = best.expect("there are as many experts");
    }
    // END SOLUTION
}

/// Chooses a token's experts from its router logits `logits [n]`, which may be any finite floats.
/// Writes the experts to `chosen [k]`, the best first, and their weights to `weights [k]`.
///
/// # Panics
/// The same as for [`top_k`].
pub fn route(logits: &[f32], routing: Routing, chosen: &mut [usize], weights: &mut [f32]) {
    // SOLUTION week4-day6 task 1
    top_k(logits, chosen);
    let max = logits[chosen[0]];
    for (weight, &expert) in weights.iter_mut().zip(&*chosen) {
        *weight = (logits[expert] - max).exp();
    }
    let total: f32 = match routing {
        Routing::SoftmaxFirst { renormalize: false } => {
            logits.iter().map(|logit| (logit - max).exp()).sum()
        }
        _ => weights.iter().sum(),
    };
    weights.iter_mut().for_each(|weight| *weight /= total);
    // END SOLUTION
}
