//! id: tokens-at-the-end
//! function: generate
//! says: `on_token` gets its tokens when all is over; it receives each as soon as it is chosen, so that a reader can watch and can end it.
    ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    ensure!(prompt.len() <= limits.context, "the prompt has {} tokens, but the context holds {}", prompt.len(), limits.context);
    let mut tokens = prompt.to_vec();
    let reason = loop {
        if tokens.len() - prompt.len() == limits.max_new_tokens {
            break FinishReason::Length;
        }
        if tokens.len() == limits.context {
            break FinishReason::ContextFull;
        }
        let token = choose(&next_logits(&tokens), &tokens);
        if limits.stop_tokens.contains(&token) {
            break FinishReason::Stop;
        }
        tokens.push(token);
    };
    for &token in &tokens[prompt.len()..] {
        if on_token(token).is_break() {
            return Ok(FinishReason::Interrupted);
        }
    }
    Ok(reason)
