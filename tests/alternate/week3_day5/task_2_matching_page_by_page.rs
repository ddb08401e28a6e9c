//! function: PrefixIndex::matching
//! how: names are made only as far as they are found
        let mut found = Vec::new();
        let (mut name, mut parent) = (self.fingerprint, ROOT);
        let mut rest = tokens;
        while rest.len() >= self.page_len {
            let (page, behind) = rest.split_at(self.page_len);
            name = (self.hash)(name, page);
            let Some(entry) = self.entries.get(&name) else { break };
            if entry.parent != parent || entry.tokens[..] != *page {
                break;
            }
            found.push(name);
            parent = entry.id;
            rest = behind;
        }
        found
