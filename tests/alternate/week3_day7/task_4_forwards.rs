//! function: fewest_tokens
//! how: from the front, how few lead to each byte
    let mut fewest = vec![usize::MAX; text.len() + 1];
    fewest[0] = 0;
    for start in 0..text.len() {
        if fewest[start] == usize::MAX {
            continue;
        }
        let mut id = TokenTrie::ROOT;
        for (end, &byte) in text.iter().enumerate().skip(start) {
            match trie.child(id, byte) {
                Some(child) => id = child,
                None => break,
            }
            if !trie.node(id).tokens.is_empty() {
                fewest[end + 1] = fewest[end + 1].min(fewest[start] + 1);
            }
        }
    }
    fewest.pop().filter(|&n| n < usize::MAX)
