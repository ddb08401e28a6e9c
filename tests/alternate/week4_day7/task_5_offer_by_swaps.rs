//! function: TopK::offer
//! how: put at the end, and swapped forwards while it is larger than the one before
        if logit.is_nan() || self.logits.is_empty() {
            return;
        }
        let k = self.logits.len();
        if self.len == k {
            if logit <= self.logits[k - 1] {
                return;
            }
            self.len -= 1;
        }
        let mut at = self.len;
        self.logits[at] = logit;
        self.tokens[at] = token;
        self.len += 1;
        while at > 0 && self.logits[at - 1] < self.logits[at] {
            self.logits.swap(at - 1, at);
            self.tokens.swap(at - 1, at);
            at -= 1;
        }
