//! id: all-positions
//! function: next_token_logits
//! says: You return the logits of all positions; only those of the last one are wanted.
//! shows: expected 61: one position's, one for each token of the vocabulary
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    model.forward(&batch).iter().copied().collect()
