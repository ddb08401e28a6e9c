//! function: Prices::of
//! how: the tokens are listed, then priced, and the list is kept first
        if !self.known.contains_key(state) {
            let mut tokens = Vec::new();
            trie.walk(grammar, state, &mut |token, next| tokens.push((token, next.clone())));
            let mut prices = vec![NEVER; trie.vocabulary()];
            let mut last: Option<(S, u16)> = None;
            for (token, next) in tokens {
                let price = match &last {
                    Some((state, price)) if *state == next => *price,
                    _ => match fewest_tokens(trie, &grammar.closing_text(&next)) {
                        Some(n) if n < usize::from(NEVER) => n as u16,
                        _ => NEVER,
                    },
                };
                prices[token as usize] = price;
                last = Some((next, price));
            }
            if self.known.len() == self.most {
                self.known = HashMap::new();
            }
            self.known.insert(state.clone(), Arc::from(prices));
        }
        Arc::clone(&self.known[state])
