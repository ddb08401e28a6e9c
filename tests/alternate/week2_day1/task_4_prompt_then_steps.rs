//! function: Session::generate
//! how: prefill first, then a loop of single tokens
ensure!(!prompt.is_empty(), "the prompt is empty");
ensure!(prompt.len() <= limits.context, "a prompt of {} tokens does not fit into {}", prompt.len(), limits.context);
let mut tokens = prompt.to_vec();
self.keep_prefix(prompt);
let mut new = self.tokens.len();
for made in 0.. {
    if made == limits.max_new_tokens {
        return Ok(FinishReason::Length);
    }
    if tokens.len() == limits.context {
        break;
    }
    let logits = self.feed(&tokens[new..], chunk)?.to_vec();
    new = tokens.len();
    let token = choose(&logits, &tokens);
    if limits.stop_tokens.contains(&token) {
        return Ok(FinishReason::Stop);
    }
    tokens.push(token);
    if on_token(token) == ControlFlow::Break(()) {
        return Ok(FinishReason::Interrupted);
    }
}
Ok(FinishReason::ContextFull)
