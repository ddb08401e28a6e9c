//! id: tokens-reversed
//! function: next_token_logits
//! says: Your logits are those of the same tokens in reverse order: the first token goes in first.
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.iter().rev().copied().collect()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![0, tokens.len() - 1, ..]).to_vec()
