//! id: first-position
//! function: next_token_logits
//! says: Your logits are those of row 0, which tells what follows the first token; the last row tells what follows all of them.
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![0, 0, ..]).to_vec()
