//! id: eos-one-late
//! function: generate
//! says: You test the token of the step before: the stop token is written, and one more is chosen. Test the token that was just chosen.
    ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    ensure!(prompt.len() <= limits.context, "the prompt has {} tokens, but the context holds {}", prompt.len(), limits.context);
    let mut tokens = prompt.to_vec();
    let mut last = None;
    loop {
        if tokens.len() - prompt.len() == limits.max_new_tokens {
            return Ok(FinishReason::Length);
        }
        if tokens.len() == limits.context {
            return Ok(FinishReason::ContextFull);
        }
        let token = choose(&next_logits(&tokens), &tokens);
        if last.is_some_and(|last| limits.stop_tokens.contains(&last)) {
            return Ok(FinishReason::Stop);
        }
        tokens.push(token);
        last = Some(token);
        if on_token(token).is_break() {
            return Ok(FinishReason::Interrupted);
        }
    }
