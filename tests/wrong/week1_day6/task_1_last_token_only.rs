//! id: last-token-only
//! function: next_token_logits
//! says: Nothing is cached: the model needs all tokens to know what came before.
let batch = Array2::from_shape_vec((1, 1), vec![*tokens.last().unwrap()]).unwrap();
    let logits = model.forward(&batch);
    logits.slice(s![0, 0, ..]).to_vec()
