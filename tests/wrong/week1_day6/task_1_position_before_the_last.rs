//! id: position-before-the-last
//! function: next_token_logits
//! says: Row L−1 scores the token after all L.
let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![0, tokens.len().saturating_sub(2), ..]).to_vec()
