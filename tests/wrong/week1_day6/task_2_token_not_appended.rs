//! id: token-not-appended
//! function: generate
//! says: Every step sees the prompt alone: what was written before it must be part of what the model and `choose` get.
    ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    ensure!(prompt.len() <= limits.context, "the prompt has {} tokens, but the context holds {}", prompt.len(), limits.context);
    let mut new = 0;
    loop {
        if new == limits.max_new_tokens {
            return Ok(FinishReason::Length);
        }
        if prompt.len() + new == limits.context {
            return Ok(FinishReason::ContextFull);
        }
        let token = choose(&next_logits(prompt), prompt);
        if limits.stop_tokens.contains(&token) {
            return Ok(FinishReason::Stop);
        }
        new += 1;
        if on_token(token).is_break() {
            return Ok(FinishReason::Interrupted);
        }
    }
