//! id: unseen
//! function: generate
//! says: prompt.len() + max_new_tokens
    ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    ensure!(
        prompt.len() <= limits.context,
        "the prompt has {} tokens, but the context holds {}",
        prompt.len(),
        limits.context
    );
    let mut tokens = prompt.to_vec();
    loop {
        if tokens.len() == prompt.len() + limits.max_new_tokens {
            return Ok(FinishReason::Length);
        }
        if tokens.len() == limits.context {
            return Ok(FinishReason::ContextFull);
        }
        let token = choose(&next_logits(&tokens), &tokens);
        if limits.stop_tokens.contains(&token) {
            return Ok(FinishReason::Stop);
        }
        tokens.push(token);
        if on_token(token).is_break() {
            return Ok(FinishReason::Interrupted);
        }
    }
