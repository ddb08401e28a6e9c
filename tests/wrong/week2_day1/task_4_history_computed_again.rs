//! id: kv-refeed-history
//! function: Session::feed
//! says: Every chunk computes the whole text again: what the cache holds is not computed a second time.
//! shows: how many were computed
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let chunk = chunk.max(1);
let last = (tokens.len() - 1) / chunk;
for (i, part) in tokens.chunks(chunk).enumerate() {
    self.cache.truncate(0, self.cache.len(0).saturating_sub(1));
    let again = self.rows.last().map(|row| row.token);
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: start + j + usize::from(again.is_some()), sequence: 0, logits: i == last && j + 1 == part.len() };
    self.rows.clear();
    if let Some(token) = again {
        self.rows.push(Row { token, position: start, sequence: 0, logits: false });
    }
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.check(&self.rows, &self.cache)?;
    self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
    self.tokens.extend_from_slice(part);
}
Ok(self.work.logits())
