//! function: next_token_logits
//! how: the last V numbers of all
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    let (vocabulary, all) = (logits.shape()[2], logits.iter().copied().collect::<Vec<f32>>());
    all[all.len() - vocabulary..].to_vec()
