//! id: prompt-truncated
//! function: generate
//! says: A prompt that does not fit is an error, not cut silently.
ensure!(!prompt.is_empty(), "empty");
    let prompt = &prompt[prompt.len().saturating_sub(limits.context)..];
    let mut tokens = prompt.to_vec();
    loop {
        if tokens.len() - prompt.len() == limits.max_new_tokens { return Ok(FinishReason::Length); }
        if tokens.len() == limits.context { return Ok(FinishReason::ContextFull); }
        let token = choose(&next_logits(&tokens), &tokens);
        if limits.stop_tokens.contains(&token) { return Ok(FinishReason::Stop); }
        tokens.push(token);
        if on_token(token).is_break() { return Ok(FinishReason::Interrupted); }
    }
