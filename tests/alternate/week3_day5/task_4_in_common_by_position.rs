//! function: Prompt::in_common
//! how: the first place that differs
        let all = self.tokens.len().min(tokens.len());
        let same = (0..all).find(|&i| self.tokens[i] != tokens[i]).unwrap_or(all);
        if same == tokens.len() { same.saturating_sub(1) } else { same }
