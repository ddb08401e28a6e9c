//! function: Sequence::accept
//! how: one reason, found first and set at the end
        assert!(self.phase == Phase::Decoding);
        if self.limits.stop_tokens.iter().any(|&stop| stop == token) {
            self.phase = Phase::Finished(FinishReason::Stop);
            return false;
        }
        self.tokens.push(token);
        let (all, new) = (self.tokens.len(), self.tokens.len() - self.prompt_len);
        let reason = match (completes_stop_text, new >= self.limits.max_new_tokens) {
            (true, _) => Some(FinishReason::Stop),
            (false, true) => Some(FinishReason::Length),
            (false, false) => (all >= self.limits.context).then_some(FinishReason::ContextFull),
        };
        if let Some(reason) = reason {
            self.phase = Phase::Finished(reason);
        }
        true
