//! id: generate-prompt-behind-cache
//! function: Session::generate
//! says: A prompt is taken to follow what is in the cache: it begins where the text begins.
//! shows: 11 are in the cache
let context = limits.context;
ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
ensure!(prompt.len() <= context, "the prompt has {} tokens, but the context holds {context}", prompt.len());
let mut tokens = Vec::with_capacity(context.min(prompt.len().saturating_add(limits.max_new_tokens)));
tokens.extend_from_slice(prompt);
self.keep_prefix(prompt);
let mut unseen = 0;
loop {
    if tokens.len() - prompt.len() == limits.max_new_tokens {
        return Ok(FinishReason::Length);
    }
    if tokens.len() == context {
        return Ok(FinishReason::ContextFull);
    }
    // What the cache does not hold: first the prompt or its end, then each new token.
    let logits = self.feed(&tokens[unseen..], chunk)?;
    unseen = tokens.len();
    let token = choose(logits, &tokens);
    if limits.stop_tokens.contains(&token) {
        return Ok(FinishReason::Stop);
    }
    tokens.push(token);
    if on_token(token).is_break() {
        return Ok(FinishReason::Interrupted);
    }
}
