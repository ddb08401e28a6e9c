//! id: position-before-the-last
//! function: next_token_logits
//! says: Your logits are those of row L − 2, which tells what follows the token before the last; row L − 1 tells what follows all.
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![0, tokens.len().saturating_sub(2), ..]).to_vec()
