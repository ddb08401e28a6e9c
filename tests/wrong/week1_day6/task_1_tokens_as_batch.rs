//! id: last-token-only
//! function: next_token_logits
//! says: Your logits are those of a text that consists of the last token alone: the model must be given all L tokens, as one row.
    let batch = Array2::from_shape_vec((tokens.len(), 1), tokens.to_vec()).expect("one column");
    let logits = model.forward(&batch);
    logits.slice(s![tokens.len() - 1, 0, ..]).to_vec()
