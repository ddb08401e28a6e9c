//! id: unseen
//! function: next_token_logits
//! says: the model sees the last 32 tokens
    let tokens = &tokens[tokens.len().saturating_sub(32)..];
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![0, tokens.len() - 1, ..]).to_vec()
