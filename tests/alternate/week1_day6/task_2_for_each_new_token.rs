//! function: generate
//! how: a `for` over the new tokens, and two more questions after it
    if prompt.is_empty() {
        anyhow::bail!("a prompt needs a token");
    }
    if prompt.len() > limits.context {
        anyhow::bail!("{} tokens do not fit into a context of {}", prompt.len(), limits.context);
    }
    let room = limits.context - prompt.len();
    let mut tokens = prompt.to_vec();
    for _ in 0..limits.max_new_tokens.min(room) {
        let logits = next_logits(&tokens);
        let token = choose(&logits, &tokens);
        if limits.stop_tokens.contains(&token) {
            return Ok(FinishReason::Stop);
        }
        tokens.push(token);
        if let ControlFlow::Break(()) = on_token(token) {
            return Ok(FinishReason::Interrupted);
        }
    }
    Ok(if limits.max_new_tokens <= room { FinishReason::Length } else { FinishReason::ContextFull })
