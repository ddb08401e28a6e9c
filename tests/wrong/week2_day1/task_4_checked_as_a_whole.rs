//! id: feed-empty-accepted
//! function: Session::feed
//! says: No tokens are accepted, and the logits are those of the call before.
//! shows: feed([]) in a vocabulary of 37 and a context of 8, which is to return an error: it was accepted
if tokens.is_empty() {
    return Ok(self.work.logits());
}
let chunk = chunk.max(1);
let last = (tokens.len() - 1) / chunk;
for (i, part) in tokens.chunks(chunk).enumerate() {
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: start + j, sequence: 0, logits: i == last && j + 1 == part.len() };
    self.rows.clear();
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.check(&self.rows, &self.cache)?;
    self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
    self.tokens.extend_from_slice(part);
}
Ok(self.work.logits())
