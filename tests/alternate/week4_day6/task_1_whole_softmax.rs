//! function: route
//! how: a softmax over all experts for every model, whose chosen weights are divided by their sum
    top_k(logits, chosen);
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let all: Vec<f32> = logits.iter().map(|logit| (logit - max).exp()).collect();
    let total: f32 = all.iter().sum();
    for (weight, &expert) in weights.iter_mut().zip(&*chosen) {
        *weight = all[expert] / total;
    }
    if routing != (Routing::SoftmaxFirst { renormalize: false }) {
        let total: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
    }
