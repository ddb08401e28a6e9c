//! Submits requests to the engine and cancels them.

use anyhow::{Result, ensure};
use tiny_llm_formats::request::check_tokens;

use crate::week3::{
    constraint::Constraint,
    engine::Engine,
    extras::{Extras, Shaper},
    pass::Pass,
    request::{Request, RequestId, Sequence},
    room::EngineCache,
    timeline::Record,
};

impl<C: EngineCache, P: Pass<C>> Engine<C, P> {
    /// Submits a request. It starts in the first step that has a free slot for it.
    ///
    /// # Errors
    /// If the prompt is empty, is longer than the context, or has a token that isn't in the
    /// vocabulary. Also if a sampling option is out of range. An error leaves the engine unchanged.
    pub fn submit(&mut self, request: Request) -> Result<RequestId> {
        self.submit_with(request, None, Extras::default())
    }

    /// Like [`Engine::submit`], but the answer obeys the constraint's grammar, whatever the model's
    /// logits are and however few tokens are left.
    ///
    /// # Errors
    /// The same as for [`Engine::submit`]. Also if the shortest answer that obeys the grammar
    /// doesn't fit within the token limit and the context. Also if the request has stop texts,
    /// which could end the answer before it is complete.
    pub fn submit_constrained(
        &mut self,
        request: Request,
        constraint: Option<Constraint>,
    ) -> Result<RequestId> {
        self.submit_with(request, constraint, Extras::default())
    }

    /// Like [`Engine::submit_constrained`], but `extras` can add penalties and log-probabilities.
    ///
    /// # Errors
    /// The same as for [`Engine::submit_constrained`]. Also if a penalty is NaN or infinite.
    pub fn submit_with(
        &mut self,
        request: Request,
        constraint: Option<Constraint>,
        extras: Extras,
    ) -> Result<RequestId> {
        let (prompt, vocabulary) = (&request.prompt, self.pass.vocab_size());
        ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
        ensure!(
            prompt.len() <= self.context,
            "the prompt has {} tokens, but the context holds {}",
            prompt.len(),
            self.context
        );
        check_tokens((0..).zip(prompt.iter().copied()), vocabulary)?;
        request.sampling.check()?;
        if let Some(constraint) = &constraint {
            ensure!(
                request.stop_texts.is_empty(),
                "a constrained answer cannot have stop texts, which could cut the answer off"
            );
            let room = request.max_new_tokens.min(self.context - request.prompt.len());
            constraint.fits(room).map_err(anyhow::Error::msg)?;
        }
        for (name, penalty) in
            [("presence_penalty", extras.presence), ("frequency_penalty", extras.frequency)]
        {
            ensure!(penalty.is_finite(), "{name}: found {penalty}, expected a finite number");
        }
        let shaper = Shaper::new(extras, prompt.len());
        let id = self.next_id;
        self.next_id += 1;
        let mut sequence = Sequence::new(id, request, self.context);
        sequence.constraint = constraint;
        sequence.sampler.shape(shaper);
        sequence.record = self.records.is_some().then(|| Record::new(self.now()));
        self.waiting.push_back(sequence);
        Ok(id)
    }

    /// Ends a request whose client has disconnected. The next step reports the end and frees the
    /// slot. Returns false if there is no such request.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        let sequences = self.waiting.iter_mut().chain(&mut self.running);
        match sequences.into_iter().find(|sequence| sequence.id == id) {
            Some(sequence) => {
                sequence.cancel();
                true
            }
            None => false,
        }
    }
}
