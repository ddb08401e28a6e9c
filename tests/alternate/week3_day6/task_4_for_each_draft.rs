//! function: DraftModel::draft
//! how: how many fit is counted first
        let context = self.session.model.config.max_positions;
        let context = context.min(self.session.cache().shape().capacity);
        let n = k.min((context + 1).saturating_sub(text.len()));
        let mut seen = text.to_vec();
        self.session.keep_prefix(text);
        let mut drafts = Vec::new();
        for _ in 0..n {
            let new = seen[self.session.tokens().len()..].to_vec();
            let q = distribution(sampling, self.session.feed(&new, 1)?, &seen);
            let weights: Vec<f64> = q.iter().map(|&x| x.into()).collect();
            seen.push(draw_weighted(&weights, rng.uniform()));
            drafts.push(Draft { token: *seen.last().unwrap(), q });
        }
        Ok(drafts)
