//! id: probabilities-for-logits
//! function: next_token_logits
//! says: You return probabilities: these are the softmax of the logits. The logits themselves are wanted; what is made of them is for the one who chooses.
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    let logits = logits.slice(s![0, tokens.len() - 1, ..]);
    let max = logits.fold(f32::NEG_INFINITY, |max, &logit| max.max(logit));
    let sum: f32 = logits.iter().map(|logit| (logit - max).exp()).sum();
    logits.iter().map(|logit| (logit - max).exp() / sum).collect()
