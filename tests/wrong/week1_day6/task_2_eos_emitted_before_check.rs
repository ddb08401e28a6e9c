//! id: eos-emitted-before-check
//! function: generate
//! says: `on_token` gets the stop token: look whether a token is one before you append it or hand it on.
    ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    ensure!(prompt.len() <= limits.context, "the prompt has {} tokens, but the context holds {}", prompt.len(), limits.context);
    let mut tokens = prompt.to_vec();
    loop {
        if tokens.len() - prompt.len() == limits.max_new_tokens {
            return Ok(FinishReason::Length);
        }
        if tokens.len() == limits.context {
            return Ok(FinishReason::ContextFull);
        }
        let token = choose(&next_logits(&tokens), &tokens);
        tokens.push(token);
        if on_token(token).is_break() {
            return Ok(FinishReason::Interrupted);
        }
        if limits.stop_tokens.contains(&token) {
            return Ok(FinishReason::Stop);
        }
    }
