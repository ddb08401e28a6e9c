//! function: TokenTrie::walk
//! how: children one by one, on the way back up
        let mut way = vec![(Self::ROOT, state.clone(), 0)];
        while let Some((id, state, at)) = way.last_mut() {
            let node = &self.nodes[*id];
            if *at == 0 {
                node.tokens.iter().for_each(|&token| each(token, state));
            }
            let Some(&(byte, child)) = node.children.get(*at) else {
                way.pop();
                continue;
            };
            *at += 1;
            if let Some(next) = grammar.next(state, byte) {
                way.push((child, next, 0));
            }
        }
