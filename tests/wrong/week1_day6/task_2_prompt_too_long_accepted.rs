//! id: prompt-too-long-accepted
//! function: generate
//! says: You take a prompt that is longer than the context as if it fitted. That is an error, for an answer to a part of it would answer another question.
    ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    let mut tokens = prompt.to_vec();
    loop {
        if tokens.len() - prompt.len() == limits.max_new_tokens {
            return Ok(FinishReason::Length);
        }
        if tokens.len() >= limits.context {
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
