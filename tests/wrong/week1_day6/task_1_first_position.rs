//! id: first-position
//! function: next_token_logits
//! says: Row 0 scores the token after the first; you want the last row.
let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![0, 0, ..]).to_vec()
