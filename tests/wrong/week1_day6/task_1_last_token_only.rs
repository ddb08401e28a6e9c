//! id: last-token-only
//! function: next_token_logits
//! says: Your logits are those of a text that consists of the last token alone: the model must be given all L tokens, as one row.
    let batch = Array2::from_elem((1, 1), tokens[tokens.len() - 1]);
    let logits = model.forward(&batch);
    logits.slice(s![0, 0, ..]).to_vec()
