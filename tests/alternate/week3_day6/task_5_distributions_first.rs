//! function: Speculation::step
//! how: the drafts' tokens apart from the text
        let k = room.saturating_sub(1).min(self.length.choose());
        let drafts = self.drafter.draft(text, k, sampling, rng)?;
        let proposed: Vec<u32> = drafts.iter().map(|draft| draft.token).collect();
        let new = [&text[session.tokens().len()..], &proposed].concat();
        let logits = session.feed_for(&new, proposed.len() + 1, chunk)?.to_vec();
        ensure!(logits.iter().all(|x| x.is_finite()), NotFinite);
        let rows: Vec<&[f32]> = logits.chunks(logits.len() / (proposed.len() + 1)).collect();
        let known = text.len();
        let verdict = verify(
            &drafts,
            |i| {
                let seen = [&text[..known], &proposed[..i]].concat();
                distribution(sampling, rows[i], &seen)
            },
            rng,
        );
        text.extend_from_slice(&proposed[..verdict.accepted]);
        session.truncate(text.len());
        text.push(verdict.next);
        self.length.observe(proposed.len(), verdict.accepted);
        self.counts.passes += 1;
        self.counts.drafted += proposed.len() as u64;
        self.counts.accepted += verdict.accepted as u64;
        if verdict.accepted != proposed.len() {
            self.counts.refused += 1;
        }
        Ok(())
