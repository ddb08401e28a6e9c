//! id: tokens-as-batch
//! function: next_token_logits
//! says: Tokens go along L, not along B.
let batch = Array2::from_shape_vec((tokens.len(), 1), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![tokens.len() - 1, 0, ..]).to_vec()
