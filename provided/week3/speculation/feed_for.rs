//! Runs passes of a session that return the logits of several rows: the rows of the drafts, and the
//! row of the token before the first draft.

use anyhow::{Result, ensure};

use crate::week2::{cache::KvCache, generate::Session, rows::Row};

impl<C: KvCache> Session<C> {
    /// Like [`Session::feed`], but returns the logits `[n, V]` after each of the last `n` tokens.
    /// These tokens are computed in one pass, even if `n` is more than `chunk`.
    ///
    /// # Errors
    /// The same as for [`Session::feed`]. Also if `n` is 0 or there are fewer than `n` tokens.
    pub fn feed_for(&mut self, tokens: &[u32], n: usize, chunk: usize) -> Result<&[f32]> {
        ensure!(
            (1..=tokens.len()).contains(&n),
            "found n = {n}, expected 1 to {}, the number of tokens",
            tokens.len()
        );
        let (whole, last) = tokens.split_at(tokens.len() - n);
        // Rows that are in the same pass as the last `n`.
        let shared = whole.len() % chunk.max(1);
        let (whole, shared) = whole.split_at(whole.len() - shared);
        for part in whole.chunks(chunk.max(1)) {
            self.pass(part, 0)?;
        }
        self.pass(&[shared, last].concat(), n)?;
        Ok(self.work.logits())
    }

    /// Runs one forward pass over `tokens`, in which the last `n` rows request logits.
    fn pass(&mut self, tokens: &[u32], n: usize) -> Result<()> {
        let start = self.cache.len(0);
        let silent = tokens.len() - n;
        let row =
            |(i, &token)| Row { token, position: start + i, sequence: 0, logits: i >= silent };
        self.rows.clear();
        self.rows.extend(tokens.iter().enumerate().map(row));
        self.model.check(&self.rows, &self.cache)?;
        self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
        self.tokens.extend_from_slice(tokens);
        Ok(())
    }
}
