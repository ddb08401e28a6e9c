//! id: token-not-appended
//! function: generate
//! says: The new token is part of what comes next.
ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    ensure!(prompt.len() <= limits.context, "the prompt has {} tokens, but the context holds {}", prompt.len(), limits.context);
    let mut tokens = prompt.to_vec();
    let mut new = 0;
    loop {
        if new == limits.max_new_tokens { return Ok(FinishReason::Length); }
        if tokens.len() + new == limits.context { return Ok(FinishReason::ContextFull); }
        let token = choose(&next_logits(&tokens), &tokens);
        if limits.stop_tokens.contains(&token) { return Ok(FinishReason::Stop); }
        new += 1;
        let _ = &mut tokens;
        if on_token(token).is_break() { return Ok(FinishReason::Interrupted); }
    }
