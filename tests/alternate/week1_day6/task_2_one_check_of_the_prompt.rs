//! function: generate
//! how: a `while` that breaks with its reason, and one error for both bad prompts
    ensure!((1..=limits.context).contains(&prompt.len()), "a prompt has 1 to {} tokens, not {}", limits.context, prompt.len());
    let (mut tokens, mut new, mut reason) = (prompt.to_vec(), 0, None);
    while reason.is_none() {
        reason = if new >= limits.max_new_tokens {
            Some(FinishReason::Length)
        } else if tokens.len() >= limits.context {
            Some(FinishReason::ContextFull)
        } else {
            let logits = next_logits(&tokens);
            match choose(&logits, &tokens) {
                token if limits.stop_tokens.iter().any(|&stop| stop == token) => Some(FinishReason::Stop),
                token => {
                    new += 1;
                    tokens.push(token);
                    on_token(token).is_break().then_some(FinishReason::Interrupted)
                }
            }
        };
    }
    reason.ok_or_else(|| anyhow::anyhow!("the loop ends with a reason"))
