//! id: limits-order
//! function: Session::generate
//! says: The context is looked at before `max_new_tokens`: where both are reached, the length is the reason.
//! shows: both limits are reached at once
let context = limits.context;
ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
ensure!(prompt.len() <= context, "the prompt has {} tokens, but the context holds {context}", prompt.len());
let mut tokens = Vec::with_capacity(context.min(prompt.len().saturating_add(limits.max_new_tokens)));
tokens.extend_from_slice(prompt);
self.keep_prefix(prompt);
loop {
    if tokens.len() == context {
        return Ok(FinishReason::ContextFull);
    }
    if tokens.len() - prompt.len() == limits.max_new_tokens {
        return Ok(FinishReason::Length);
    }
    // What the cache does not hold: first the prompt or its end, then each new token.
    let logits = self.feed(&tokens[self.cache.len(0)..], chunk)?;
    let token = choose(logits, &tokens);
    if limits.stop_tokens.contains(&token) {
        return Ok(FinishReason::Stop);
    }
    tokens.push(token);
    if on_token(token).is_break() {
        return Ok(FinishReason::Interrupted);
    }
}
