//! Chooses the tokens of a step from its logits.

use tiny_llm_formats::FinishReason;

use crate::week3::{
    constraint::Constraint,
    engine::{Engine, Event},
    pass::Pass,
    request::{Phase, Sequence},
    room::EngineCache,
};

impl<C: EngineCache, P: Pass<C>> Engine<C, P> {
    /// Chooses the next token of every request whose tokens have all been computed, and reports it
    /// to `on_event`. If the token equals the request's next draft, the logits after that draft are
    /// already known, so chooses another token. If a request's logits are NaN or infinite, only
    /// that request ends.
    pub(crate) fn choose(&mut self, on_event: &mut dyn FnMut(Event)) {
        let now = self.now();
        let mut logits = self.pass.logits().chunks_exact(self.pass.vocab_size());
        for (i, (sequence, &rows)) in self.running.iter_mut().zip(&self.shares).enumerate() {
            if rows == 0 || !sequence.computed(rows) {
                continue;
            }
            let drafts = self.ahead.as_ref().map_or(&[][..], |ahead| ahead.drafts(i));
            let mut accepted = 0;
            let mut logits = logits.by_ref().take(1 + drafts.len());
            for logits in logits.by_ref() {
                if !logits.iter().all(|x| x.is_finite()) {
                    sequence.phase = Phase::Finished(FinishReason::NotFinite);
                    break;
                }
                let left = sequence.num_room();
                let Sequence { tokens, sampler, limits, stop_texts: texts, .. } = sequence;
                let (token, completes) = match &mut sequence.constraint {
                    None => {
                        let token = sampler.choose(logits, tokens);
                        (token, !texts.is_empty() && texts.push(&(self.token_bytes)(token)))
                    }
                    Some(constraint) => {
                        self.masked.clear();
                        self.masked.extend_from_slice(logits);
                        let limits = (left, &limits.stop_tokens[..]);
                        let token =
                            constraint.choose_with(&mut self.masked, limits, (sampler, tokens));
                        (token, !limits.1.contains(&token) && constraint.accept(token))
                    }
                };
                if sequence.accept(token, completes) {
                    if let Some(record) = &mut sequence.record {
                        record.token(now);
                    }
                    if let Some(chosen) = sequence.sampler.take_chosen() {
                        self.chosen.push((sequence.id, chosen));
                    }
                    on_event(Event::Token { id: sequence.id, token });
                }
                let cut_short = sequence.constraint.as_ref().is_some_and(Constraint::is_cut_short);
                if sequence.finished() == Some(FinishReason::Stop) && cut_short {
                    sequence.phase = Phase::Finished(FinishReason::Length);
                }
                let goes_on = sequence.finished().is_none();
                if !goes_on || drafts.get(accepted) != Some(&token) {
                    break;
                }
                accepted += 1;
                sequence.computed(1);
            }
            // Skip the request's remaining logits: the next request's logits follow them.
            logits.for_each(drop);
            if let Some(ahead) = &mut self.ahead {
                let slot = sequence.slot.expect("a running request has a slot");
                if ahead.observe(i, slot, accepted) {
                    self.cache.truncate(slot, sequence.num_computed);
                }
            }
        }
    }
}
