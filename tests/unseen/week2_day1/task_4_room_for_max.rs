//! id: unseen
//! function: Session::generate
//! says: Vec::with_capacity(max_new_tokens)
        let context = limits.context;
        ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
        ensure!(
            prompt.len() <= context,
            "the prompt has {} tokens, but the context holds {context}",
            prompt.len()
        );
        let mut tokens =
            Vec::with_capacity(limits.max_new_tokens);
        tokens.extend_from_slice(prompt);
        loop {
            if tokens.len() - prompt.len() == limits.max_new_tokens {
                return Ok(FinishReason::Length);
            }
            if tokens.len() == context {
                return Ok(FinishReason::ContextFull);
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
